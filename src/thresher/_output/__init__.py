"""THE WRITER: writes files atomically, so that each is complete or as it was before."""

from ._whole_files import check_no_input, delete_drafts, write_whole, writing

__all__ = ["check_no_input", "delete_drafts", "write_whole", "writing"]
