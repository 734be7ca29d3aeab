# Draws of the CSV files that the program writes, one for each chain.

# The names of quantities as posterior has them: theta[1,2] for theta.1.2.
display_names <- function(names) {
  indexed <- grepl("\\.[0-9]+(\\.[0-9]+)*$", names)
  at <- regexpr("(\\.[0-9]+)+$", names)
  inside <- gsub(".", ",", substring(names, at + 1), fixed = TRUE)
  ifelse(indexed, paste0(substring(names, 1, at - 1), "[", inside, "]"), names)
}

# The values of a file, with the names of the columns as they are in it.
read_csv <- function(file) {
  skip <- 0
  connection <- file(file, "r")
  on.exit(close(connection))
  while (startsWith(header <- readLines(connection, 1), "#")) skip <- skip + 1
  names <- strsplit(header, ",", fixed = TRUE)[[1]]
  values <- tryCatch(
    scan(file, 0, sep = ",", skip = skip + 1, comment.char = "#", quiet = TRUE),
    error = function(e) { # nan, inf
      text <- scan(file, "", sep = ",", skip = skip + 1, comment.char = "#", quiet = TRUE)
      as.numeric(text)
    }
  )
  matrix(values, ncol = length(names), byrow = TRUE, dimnames = list(NULL, names))
}

# The draws of several files, one for each chain: an array of draws, chains and columns. keep is
# the number of the last draws of each file that are those after warm-up; NULL: all.
read_chains <- function(files, keep = NULL) {
  chains <- lapply(files, read_csv)
  rows <- min(vapply(chains, nrow, 1L), keep)
  names <- colnames(chains[[1]])
  out <- array(NA_real_, c(rows, length(chains), length(names)), list(NULL, NULL, names))
  for (i in seq_along(chains)) out[, i, ] <- utils::tail(chains[[i]], rows)
  out
}

# Those columns of an array of draws, with displayed names.
as_draws_of <- function(values, columns) {
  out <- values[, , columns, drop = FALSE]
  dimnames(out)[[3]] <- display_names(dimnames(out)[[3]])
  posterior::as_draws_array(out)
}

is_statistic <- function(names) grepl("__$", names)
