# The conditions of the package: all errors have the class ppl_error.

# A condition of one of the classes that ?ppl_error lists.
new_condition <- function(class, text, kind = "error", call = NULL, ...) {
  structure(
    class = c(class, paste0("ppl_", kind), kind, "condition"),
    list(message = text, call = call, ...)
  )
}

# Signals an error of the package.
fail <- function(class, text, ...) stop(new_condition(class, text, ...))

# The messages of `ppl check --json` as a data frame with a row each.
as_messages <- function(found, rename = identity) {
  field <- function(o, name, default) {
    value <- o[[name]]
    if (is.null(value)) default else value
  }
  column <- function(name, default) vapply(found, field, default, name, default)
  whole <- function(name) vapply(found, function(m) as.integer(field(m, name, NA)), 1L)
  notes <- function(m) {
    one <- function(n) sprintf("%s: %s", place(rename(field(n, "file", "")), n$line, n$column), n$message)
    vapply(field(m, "notes", list()), one, "")
  }
  rows <- data.frame(
    severity = column("severity", ""), code = column("code", ""), summary = column("summary", ""),
    detail = column("detail", ""), help = column("help", ""), file = rename(column("file", "")),
    line = whole("line"), column = whole("column"), end_line = whole("endLine"), end_column = whole("endColumn"),
    stringsAsFactors = FALSE
  )
  rows$notes <- I(lapply(found, notes))
  class(rows) <- c("ppl_messages", class(rows))
  rows
}

# A place, in words.
place <- function(file, line, column) {
  if (length(line) == 1 && !is.na(line)) sprintf("%s:%d:%d", file, as.integer(line), as.integer(column)) else file
}

# Messages as text: the place, what is wrong, and what to do.
message_text <- function(rows) {
  one <- function(i) {
    m <- rows[i, ]
    at <- place(m$file, m$line, m$column)
    c(
      paste0(if (nzchar(at)) paste0(at, ": "), m$severity, ": ", m$summary, if (nzchar(m$code)) sprintf(" [%s]", m$code)),
      if (nzchar(m$detail)) paste0("  ", m$detail),
      if (length(m$notes[[1]])) paste0("  note: ", m$notes[[1]]),
      if (nzchar(m$help)) paste0("  help: ", m$help)
    )
  }
  paste(unlist(lapply(seq_len(nrow(rows)), one)), collapse = "\n")
}

format.ppl_messages <- function(x, ...) message_text(x)

print.ppl_messages <- function(x, ...) {
  cat(if (nrow(x)) message_text(x) else "No errors or warnings.", "\n", sep = "")
  invisible(x)
}

# Signals what a command has ended with. Options, whose names are given, are named as they are in R.
fail_of <- function(result, findings = NULL, options = character()) {
  text <- trimws(result$stderr)
  text <- sub("\n?Run 'ppl [^\n]*", "", text) # which is about the command line
  text <- sub("^error: ", "", text)
  text <- gsub("unknown flag:", "there is no option", text, fixed = TRUE)
  for (name in options) {
    text <- gsub(paste0("(--|\\b)", gsub("_", "-", name, fixed = TRUE), "\\b"), name, text, perl = TRUE)
  }
  if (!nzchar(text)) text <- sprintf("ppl has ended with exit code %d", result$code)
  class <- if (result$code == 2) c("ppl_usage_error", "ppl_run_error") else "ppl_run_error"
  fail(class, text, code = result$code, findings = findings)
}
