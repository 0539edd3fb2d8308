"""`manage.py kernels`: compile the engine, so that no worker has to."""

from typing import Any

from common.commands import ExampleCommand

EXAMPLES = """\
  python manage.py kernels                            half a minute the first time, some seconds after that
  KADO_KERNELS=/opt/kado/kernels manage.py kernels    as an image is built; workers then want the same variable
"""


class Command(ExampleCommand):
    help = (
        "Compile what CPU players search with, for this processor, into the folder that KADO_KERNELS names (default: in the "
        "user's cache). A worker for the queue `bots` does the same as it starts."
    )
    examples = EXAMPLES

    def handle(self, *args: Any, **options: Any) -> None:
        from bots import engine

        if engine.COMPILES:
            self.stderr.write("Compiling the engine, once: about half a minute …")
        seconds = engine.prepare()
        self.stdout.write(f"{engine.FOLDER}: all there after {seconds:.1f} s")
