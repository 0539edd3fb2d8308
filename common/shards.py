"""Which of several Redis a key lives on: rendezvous hashing, pure.

Every node gets a score for the key, the highest one has it. When a node is added or leaves, only the keys that it
wins or had change their place: 1 in n of them. (Thaler and Ravishankar, "Using name-based mappings to increase hit
rates", IEEE/ACM Transactions on Networking 6(1), 1998. Neither redis-py nor channels-redis has it.)
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b


def _score(key: str, node: str) -> bytes:
    return blake2b(key.encode(), key=blake2b(node.encode()).digest(), digest_size=8).digest()


@lru_cache(maxsize=16_384)
def _place(key: str, nodes: tuple[str, ...]) -> str:
    return max(nodes, key=lambda node: (_score(key, node), node))


def place(key: str, nodes: Sequence[str]) -> str:
    """The node that has `key`. The order of the nodes does not matter; there must be one at least."""
    return nodes[0] if len(nodes) == 1 else _place(key, tuple(nodes))
