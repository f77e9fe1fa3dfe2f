"""`python -m norma.app.cli`, for where the `norma` command is not on the path."""

import sys

from norma.app.cli.main import main

sys.exit(main())
