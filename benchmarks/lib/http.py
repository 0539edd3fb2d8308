"""Small JSON requests to servers on this machine, for setting up matches."""

import asyncio
import http.client
import json
from typing import Any


def _post(port: int, path: str, body: Any, token: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection.request("POST", path, json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise ConnectionError(f"POST {path}: {response.status} {text[:200]!r}")
        return json.loads(text)
    finally:
        connection.close()


async def post(port: int, path: str, body: Any, *, token: str = "") -> Any:
    """POST a JSON body and return the decoded answer; raises `ConnectionError` for anything but success."""
    return await asyncio.to_thread(_post, port, path, body, token)
