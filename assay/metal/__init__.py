"""The Metal API as PyObjC spells it, on the emulated device: `import assay.metal as Metal`.

Scripts that say `import Metal`, `import Foundation`, `import objc` or `import libdispatch` run
without changes under `python -m assay.run SCRIPT` or `assay python SCRIPT`.
"""

from assay.hal.metal import emulated
from assay.hal.metal.emulated import *  # noqa: F403  the same names, kept in one place

__all__ = emulated.__all__
