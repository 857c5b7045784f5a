"""Parts of `assay check`: of source files, and where its reports go."""
