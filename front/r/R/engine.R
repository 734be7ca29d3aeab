# Finding the program, starting it, and ending it with an interrupt.

# Seconds that an interrupted program has to keep what it has drawn.
grace <- 10

ppl_path <- function() {
  given <- getOption("ppl.path", Sys.getenv("PPL_BINARY"))
  if (nzchar(given)) {
    if (!file.exists(given)) {
      fail("ppl_path_error", sprintf("there is no program %s, which the option ppl.path or the environment variable PPL_BINARY names", given))
    }
    return(normalizePath(given))
  }
  found <- Sys.which("ppl")[[1]]
  if (!nzchar(found)) {
    fail("ppl_path_error", paste(
      "the program ppl is not on the PATH: install it,",
      "or name it by options(ppl.path = \"/path/of/ppl\") or the environment variable PPL_BINARY"
    ))
  }
  found
}

ppl_version <- function() run_json("version")$version

# Runs the program with arguments, and returns its exit code and what it has printed.
#
# stdin is the path of a file. line is called with lines on standard error and returns whether it
# has dealt with them; the others are the result's stderr. An error or an interrupt ends the
# program before it goes on.
run_engine <- function(args, stdin = NULL, line = NULL) {
  out <- tempfile("ppl-out-")
  on.exit(unlink(out))
  p <- processx::process$new(
    ppl_path(), args,
    stdin = stdin, stdout = out, stderr = "|", encoding = "UTF-8",
    env = c("current", PPL_PARENT = as.character(Sys.getpid())), # it ends when R is killed
    cleanup = TRUE, windows_verbatim_args = FALSE
  )
  on.exit(end_engine(p), add = TRUE, after = FALSE)
  rest <- character()
  read <- function() {
    for (text in p$read_error_lines()) {
      if (is.null(line) || !line(text)) rest <<- c(rest, text)
    }
  }
  while (p$is_incomplete_error()) {
    p$poll_io(200)
    read()
  }
  p$wait()
  list(code = p$get_exit_status(), stdout = read_text(out), stderr = paste(rest, collapse = "\n"))
}

# Ends the program: asked first, so that a folder with draws is whole, then by force.
end_engine <- function(p) {
  if (!p$is_alive()) {
    return(invisible())
  }
  on.exit(p$kill()) # a second interrupt included
  p$interrupt()
  until <- Sys.time() + grace
  while (p$is_alive() && Sys.time() < until) {
    p$poll_io(100)
    p$read_error_lines() # or it waits for a full pipe
  }
}

read_text <- function(path) {
  n <- file.size(path)
  if (is.na(n) || n == 0) {
    return("")
  }
  text <- readChar(path, n, useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  text
}

# The JSON document that the program prints.
parse_json <- function(text) {
  if (!nzchar(trimws(text))) {
    return(NULL)
  }
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

# Runs a command that prints JSON, and signals what it fails with.
run_json <- function(command, args = character(), options = list()) {
  result <- run_engine(c(command, args, "--json", options_of(options)))
  document <- if (result$code %in% c(0, 3)) parse_json(result$stdout)
  if (is.null(document)) fail_of(result, options = names(options))
  document
}

# Numbers of the program's JSON, in which those that are not finite are texts.
numbers <- function(values) as.numeric(unlist(values))

# Options of the program: max_depth = 8 is --max-depth 8; NULL leaves one out.
options_of <- function(options) {
  if (length(options) && (is.null(names(options)) || any(!nzchar(names(options))))) {
    fail(c("ppl_usage_error", "ppl_run_error"), "options have names, such as delta = 0.9", code = 2L, findings = NULL)
  }
  one <- function(name) {
    value <- options[[name]]
    if (is.null(value)) {
      return(character())
    }
    if (is.logical(value)) value <- tolower(value)
    if (is.numeric(value)) value <- number_text(value)
    paste0("--", gsub("_", "-", name), "=", value)
  }
  as.character(unlist(lapply(names(options), one)))
}
