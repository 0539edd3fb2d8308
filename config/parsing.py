"""How bodies are read."""

from typing import Any

import msgspec
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class StrictJSONParser(JSONParser):
    """JSON by the book: no lone surrogates, which no answer could repeat, and no brackets thousands deep."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """The value of the body. Raises `ParseError`."""
        try:
            return msgspec.json.decode(stream.read())
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ParseError(str(error)) from None
