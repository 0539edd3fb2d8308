"""Tests, in folders that mirror the packages; `support` has what they share."""
