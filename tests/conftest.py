"""What holds for every test."""

import os

from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code, so no example has a deadline. A continuous build repeats itself.
settings.register_profile("norma", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("norma"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "norma")
