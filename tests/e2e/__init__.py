"""Tests of the whole product from outside: real processes, sockets and REST."""
