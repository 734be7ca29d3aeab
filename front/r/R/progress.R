# Progress of a run.

# What reads the program's lines of progress; TRUE shows it, a function is called with each.
progress_reader <- function(progress, chains) {
  state <- new.env()
  state$done <- state$total <- list()
  state$shown <- 0
  function(text) {
    if (!startsWith(text, "{")) {
      return(FALSE)
    }
    o <- tryCatch(jsonlite::fromJSON(text), error = function(e) NULL)
    if (is.null(o)) {
      return(FALSE)
    }
    if (!is.null(o$note)) {
      if (!isFALSE(progress)) message(o$note)
      return(TRUE)
    }
    if (is.null(o$iteration)) {
      return(FALSE)
    }
    if (is.function(progress)) {
      progress(o[c("chain", "iteration", "total", "phase", "divergences")])
    } else if (isTRUE(progress)) {
      show_progress(state, o, chains)
    }
    TRUE
  }
}

show_progress <- function(state, o, chains) {
  id <- as.character(o$chain)
  state$done[[id]] <- o$iteration / max(o$total, 1)
  share <- sum(unlist(state$done)) / chains
  now <- proc.time()[["elapsed"]]
  if (now - state$shown < 0.1 && share < 1) {
    return(invisible())
  }
  state$shown <- now
  bar <- strrep("#", floor(20 * share))
  left <- if (is.null(o$left)) "" else paste0(", ", o$left)
  cat(sprintf("\r[%-20s] %3.0f %%%s   ", bar, 100 * share, left), file = stderr())
  if (share >= 1) cat("\n", file = stderr())
}
