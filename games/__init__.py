"""The games that Kado hosts, each with a pure core that knows no server."""
