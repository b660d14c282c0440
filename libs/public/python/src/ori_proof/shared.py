"""What two languages share: refusals, scripts, SQL and limits, as the build of the TypeScript verifier wrote them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

SHARED: dict[str, Any] = json.loads(resources.files("ori_proof").joinpath("shared.json").read_text("utf-8"))
