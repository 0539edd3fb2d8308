import subprocess
import sys

from config.env import PROJECT


def test_the_rules_need_the_standard_library_only() -> None:
    """Without ``site`` there are no installed packages to import."""
    code = "import games.puzzle.rules, sys; print(*sorted(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert loaded - {"__main__", "games"} <= sys.stdlib_module_names
