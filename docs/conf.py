"""How the site is built: `make docs`. Everything is on the disk: nothing is fetched while building or reading."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import labelworth  # noqa: E402

project = "labelworth"
author = "the authors of labelworth"
release = labelworth.__version__
version = release
html_title = "labelworth"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "site_parts",
    "live_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext", "gallery/*.ipynb", "gallery/*.py", "gallery/**/*.md5", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = False
default_role = "literal"
# A setting that is a function cannot be kept between builds; nothing else follows from that.
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Docstrings are the text of the reference; methods that scikit-learn adds to every estimator are its own.
autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "labelworth"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "live": [], "first_five_minutes": []}
copyright = f"{author}; MIT licence. Version {release}"

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "reset_modules": ("site_style.before_an_example",),
    "within_subsection_order": "question_order.QuestionOrder",
    "abort_on_example_error": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "thumbnail_size": (420, 260),
    "image_srcset": [],
    "capture_repr": (),
    "write_computation_times": True,
    "parallel": True,  # as many processes as `-j` says
}
