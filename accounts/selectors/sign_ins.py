"""By which providers a player signs in."""

from social_django.models import UserSocialAuth


def sign_ins_of(player_id: int) -> list[UserSocialAuth]:
    """The player's identities, the oldest first."""
    return list(UserSocialAuth.objects.filter(user_id=player_id).order_by("pk"))
