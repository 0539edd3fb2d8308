"""Pages for people in a browser: sign-in, the account, apps. Plain forms; they need no JavaScript."""
