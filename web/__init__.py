"""Pages for people in a browser. A client like any other: everything it knows comes from the public API."""
