"""Pages for the browser: one file each, with inline SVG and plain JavaScript, and no request to anywhere."""
