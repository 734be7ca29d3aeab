# Data as the program reads them: JSON as Stan has it.

# Numbers as text, in as many digits as reading back the same number takes.
number_text <- function(x) {
  if (is.integer(x) || is.logical(x)) {
    return(as.character(as.integer(x)))
  }
  if (length(x) > 10000) { # for which nobody looks at the text
    text <- sprintf("%.17g", x)
  } else {
    text <- sprintf("%.15g", x)
    long <- is.finite(x) & as.numeric(text) != x
    text[long] <- sprintf("%.17g", x[long])
  }
  text[is.nan(x)] <- "\"NaN\""
  text[is.infinite(x)] <- ifelse(x[is.infinite(x)] > 0, "\"Infinity\"", "\"-Infinity\"")
  text
}

wrong_data <- function(summary, help) {
  m <- list(severity = "error", summary = summary, help = help, file = "data")
  rows <- as_messages(list(m))
  fail("ppl_data_error", message_text(rows), messages = rows)
}

# A value as JSON; rank is the number of its dimensions in the model, NA if it has not said.
value_json <- function(name, x, rank = NA) {
  if (is.factor(x)) x <- stats::setNames(as.integer(x), NULL)
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.list(x)) {
    parts <- vapply(x, function(v) value_json(name, v, if (is.null(names(x))) rank - 1 else NA), "")
    if (is.null(names(x))) {
      return(paste0("[", paste(parts, collapse = ","), "]"))
    }
    return(object_json(names(x), parts))
  }
  if (!(is.numeric(x) || is.logical(x) || is.complex(x)) || inherits(x, c("Date", "POSIXct", "difftime"))) {
    wrong_data(sprintf("`%s` is of class %s", name, class(x)[1]), "give numbers, logical values or factors, or lists of them")
  }
  if (anyNA(x) && any(is.na(x) & !is.nan(x))) {
    wrong_data(
      sprintf("`%s` is NA at position %d", name, which(is.na(x) & !is.nan(x))[1]),
      "leave such rows out, or make the missing values parameters of the model"
    )
  }
  if (is.complex(x)) {
    x <- array(c(Re(x), Im(x)), c(if (is.null(dim(x))) length(x)[length(x) != 1] else dim(x), 2))
  } else if (is.null(dim(x))) {
    if (length(x) == 1 && (is.na(rank) || rank <= 0)) {
      return(number_text(x))
    }
    # A vector with one element for a variable with dimensions, which R cannot distinguish from a number.
    dim(x) <- if (length(x) == 1) rep(1, rank) else length(x)
  }
  array_json(x)
}

# An array as nested lists, the first dimension outside.
array_json <- function(x) {
  size <- dim(x)
  if (any(size == 0)) {
    empty <- which(size == 0)[1]
    text <- "[]"
    for (n in rev(size[seq_len(empty - 1)])) text <- paste0("[", paste(rep(text, n), collapse = ","), "]")
    return(text)
  }
  text <- number_text(c(x))
  while (length(size)) {
    last <- size[length(size)]
    rows <- matrix(text, ncol = last)
    columns <- lapply(seq_len(last), function(j) rows[, j])
    text <- paste0("[", do.call(paste, c(columns, sep = ",")), "]")
    size <- size[-length(size)]
  }
  text
}

object_json <- function(names, values) {
  quoted <- vapply(names, function(n) as.character(jsonlite::toJSON(n, auto_unbox = TRUE)), "")
  paste0("{", paste0(quoted, ":", values, collapse = ","), "}")
}

# The number of dimensions of a variable by its declaration, such as array[2, N] vector[3] x.
declared_rank <- function(declared) {
  arrays <- regmatches(declared, regexpr("^array *\\[[^]]*\\]", declared))
  rank <- if (length(arrays)) lengths(regmatches(arrays, gregexpr(",", arrays))) + 1 else 0
  element <- sub("^array *\\[[^]]*\\] *", "", declared)
  element <- sub("^complex_", "", element)
  one <- "^(vector|row_vector|simplex|ordered|positive_ordered|unit_vector|sum_to_zero_vector)\\b"
  two <- "^(matrix|corr_matrix|cov_matrix|cholesky_factor_corr|cholesky_factor_cov|[a-z_]+_matrix)\\b"
  rank + if (grepl(two, element)) 2 else if (grepl(one, element)) 1 else 0
}

# A list as JSON. needs has the declarations of the model's data, by name.
data_json <- function(data, needs = character()) {
  if (is.null(data)) data <- list()
  if (is.environment(data)) data <- as.list(data)
  if (!is.list(data) || (length(data) && (is.null(names(data)) || any(!nzchar(names(data)))))) {
    wrong_data(sprintf("data are of class %s, or lack names", class(data)[1]), "give a list with names, a data frame, or the path of a file")
  }
  rank <- function(name) if (name %in% names(needs)) declared_rank(needs[[name]]) else NA
  values <- vapply(names(data), function(n) value_json(n, data[[n]], rank(n)), "")
  if (length(values)) object_json(names(data), values) else "{}"
}

# The columns of a data frame that a model may read.
columns_of <- function(table, needs = character()) {
  columns <- lapply(as.list(table), function(v) if (is.character(v)) factor(v) else v)
  # Columns that no model reads, such as dates, may be left in the table.
  columns <- columns[names(columns) %in% names(needs) | vapply(columns, function(v) is.numeric(v) || is.factor(v) || is.logical(v), NA)]
  columns[names(columns) %in% names(needs) | !vapply(columns, anyNA, NA)]
}

# What count names: "N" the rows of a table, "J=school" the levels of its column school.
counts_in <- function(table, count) {
  counts <- list()
  for (part in strsplit(count, "=", fixed = TRUE)) {
    counts[[part[1]]] <- if (length(part) == 1) nrow(table) else levels_of(table, part[2])
  }
  counts
}

# Columns of numbers as JSON; a column of one row is a column.
columns_json <- function(columns, counts, needs) {
  data_json(c(lapply(columns, function(v) if (is.null(dim(v))) array(v) else v), counts), needs)
}

# The columns of a data frame as data. count names what it counts: "N" the rows, "J=school" the
# levels of the column school. With factors they are an R dump, which has their levels: predictions
# for other tables then find the level of a name.
table_data <- function(table, needs = character(), count = character()) {
  columns <- columns_of(table, needs)
  counts <- counts_in(table, count)
  if (!any(vapply(columns, is.factor, NA))) {
    return(columns_json(columns, counts, needs))
  }
  lines <- vapply(names(columns), function(name) {
    x <- columns[[name]]
    value_json(name, x) # which reports what is no value
    if (!is.factor(x)) {
      values <- gsub("\"", "", number_text(c(x)), fixed = TRUE)
      values <- sub("Infinity", "Inf", values, fixed = TRUE)
      size <- if (is.null(dim(x))) length(x) else dim(x)
      return(sprintf("%s <- structure(c(%s), .Dim = c(%s))", quoted_name(name), paste(values, collapse = ", "), paste0(size, "L", collapse = ", ")))
    }
    sprintf(
      "%s <- structure(c(%s), .Dim = c(%dL), levels = c(%s), class = \"factor\")",
      quoted_name(name), paste0(as.integer(x), "L", collapse = ", "), length(x), paste(quoted_text(levels(x)), collapse = ", ")
    )
  }, "")
  paste(c(lines, sprintf("%s <- %dL", vapply(names(counts), quoted_name, ""), as.integer(unlist(counts)))), collapse = "\n")
}

# A data frame as CSV, whose names the program finds among the levels of a fit.
table_csv <- function(table, needs = character()) {
  columns <- columns_of(table, needs)
  cells <- lapply(names(columns), function(name) {
    x <- columns[[name]]
    value_json(name, x)
    if (is.factor(x)) quoted_csv(as.character(x)) else gsub("\"", "", number_text(c(x)), fixed = TRUE)
  })
  paste(c(paste(quoted_csv(names(columns)), collapse = ","), do.call(paste, c(cells, sep = ","))), collapse = "\n")
}

quoted_csv <- function(x) paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\"")

quoted_text <- function(x) paste0("\"", gsub("\"", "\\\"", gsub("\\", "\\\\", x, fixed = TRUE), fixed = TRUE), "\"")

quoted_name <- function(x) if (make.names(x) == x) x else quoted_text(x)

levels_of <- function(table, column) {
  if (!column %in% names(table)) wrong_data(sprintf("the data frame has no column %s to count the levels of", column), "name one of its columns")
  x <- table[[column]]
  if (is.character(x)) x <- factor(x)
  if (is.factor(x)) nlevels(x) else max(x)
}

# The arguments of the program that give data, and the file for its standard input, in folder. levels
# says that the names in a table are levels of a fit.
data_arguments <- function(data, folder, needs = character(), count = character(), levels = FALSE) {
  counted <- as.vector(rbind(rep("--count", length(count)), count))
  if (is.character(data) && is.null(names(data)) && length(data) == 1) {
    if (!file.exists(data)) wrong_data(sprintf("there is no file %s", data), "give the path of a file of JSON, CSV or R's dump, or a list")
    return(list(args = c("--data", data, counted), stdin = NULL))
  }
  table <- is.data.frame(data)
  if (!table && length(count)) wrong_data("count is for data frames", "give the numbers in the list")
  levels <- levels && table && all(vapply(data, function(v) is.null(dim(v)), NA))
  text <- if (!table) data_json(data, needs) else if (levels) table_csv(data, needs) else table_data(data, needs, count)
  file <- file.path(folder, if (levels) "data.csv" else "data")
  writeLines(enc2utf8(text), file, useBytes = TRUE)
  if (levels) list(args = c("--data", file, counted), stdin = NULL, file = file) else list(args = c("--data", "-"), stdin = file)
}
