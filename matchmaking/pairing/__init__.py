"""Who plays whom: the pure pairing of one pool's tickets, for games of two, three and four. Standard library only.

The published rule (`rule.py`): a ticket accepts a rating difference at once, and more for each second that it waits,
the uncertain faster, never more than its pool's limit. Two tickets are compatible when each lies inside the other's
window and neither blocks the other; a group is compatible when every pair in it is.

`pair` (`groups.py`) serves the oldest ticket first and gives it the best compatible group, and so on down to the
youngest. The answer depends on the set of tickets alone. It is maximal: no compatible group is left over.
"""

from matchmaking.pairing.groups import Proposal, best_group, pair
from matchmaking.pairing.rule import RULE, Rule, compatible, window

__all__ = ["RULE", "Proposal", "Rule", "best_group", "compatible", "pair", "window"]
