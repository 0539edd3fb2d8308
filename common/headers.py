"""What a page may load, and where its forms may lead."""

from typing import Final

_RULES: Final = (
    "default-src 'none'",
    "script-src 'self'",
    # The admin's tables and Swagger's page have styles in them; styles cannot act.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
_OWN_FORMS: Final = "form-action 'self'"

PAGE_POLICY: Final = "; ".join((*_RULES, _OWN_FORMS))
"""The Content-Security-Policy of our pages."""

LEADING_AWAY: Final = "; ".join(_RULES)
"""The same for a page whose form is answered by a redirect to another site: browsers judge the redirect too."""
