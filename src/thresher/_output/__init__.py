"""THE WRITER: every file that this library writes is complete, or the one that was there before."""

from ._whole_files import check_no_input, delete_drafts, write_whole, writing

__all__ = ["check_no_input", "delete_drafts", "write_whole", "writing"]
