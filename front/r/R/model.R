# Models: checked texts, which are sampled.

ppl_model <- function(file = NULL, text = NULL, name = "model", include_paths = character(), legacy = FALSE) {
  if (is.null(file) == is.null(text)) stop("give the file of a model, or text =, its text")
  if (!is.null(file) && !file.exists(file)) fail("ppl_file_error", sprintf("there is no file %s; a model's text is given by text =", file))
  if (!is.null(file)) {
    file <- normalizePath(file)
    name <- sub("\\.[^.]*$", "", basename(file))
    text <- read_text(file)
  }
  model <- new.env()
  model$file <- file
  model$name <- name
  model$text <- paste(text, collapse = "\n")
  model$arguments <- c(as.vector(rbind(rep("--include-path", length(include_paths)), include_paths)), if (legacy) "--legacy")
  found <- check_model(model)
  errors <- found[found$severity == "error", ]
  if (nrow(errors)) fail("ppl_model_error", message_text(errors), messages = errors)
  for (i in seq_len(nrow(found))) {
    warning(new_condition("ppl_model_warning", message_text(found[i, ]), "warning", messages = found[i, ]))
  }
  model$needs <- with_model(model, function(file, folder) {
    input <- data_arguments(list(), folder)
    result <- run_engine(c("data", "-", "--json", "--model", file, model$arguments), input$stdin)
    needs <- parse_json(result$stdout)$needs
    stats::setNames(lapply(needs, `[[`, "declared"), vapply(needs, `[[`, "", "name"))
  })
  structure(
    class = "ppl_model", model = model,
    list(
      name = name, text = model$text, file = file,
      check = function(data = NULL, count = character()) check_model(model, data, count),
      sample = function(data = NULL, seed = NULL, chains = NULL, warmup = NULL, draws = NULL, thin = NULL,
                        sampler = NULL, init = NULL, target_ess = NULL, parallel = NULL, out = NULL,
                        progress = interactive(), count = character(), ...) {
        options <- list(
          seed = seed, chains = chains, warmup = warmup, draws = draws, thin = thin,
          sampler = sampler, target_ess = target_ess, parallel = parallel, ...
        )
        sample_model(model, data, init, out, progress, count, options)
      },
      log_density = function(points, data = NULL, jacobian = TRUE, propto = TRUE, count = character()) {
        densities(model, points, data, jacobian, propto, count)
      },
      bind = function(data = NULL, seed = 0, count = character()) bind_model(model, data, seed, count)
    )
  )
}

print.ppl_model <- function(x, ...) {
  cat(sprintf("Model %s%s\n", x$name, if (is.null(x$file)) "" else sprintf(" (%s)", x$file)))
  cat("$check(data), $sample(data, seed), $log_density(points, data), $bind(data)\n")
  invisible(x)
}

# Calls a function with the file of the model and a temporary folder.
with_model <- function(model, f) {
  folder <- tempfile("ppl-")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  file <- model$file
  if (is.null(file)) {
    file <- file.path(folder, paste0(model$name, ".stan"))
    writeLines(enc2utf8(model$text), file, useBytes = TRUE)
  }
  f(file, folder)
}

# The messages of a check by its result; those without one are errors.
messages_of <- function(model, result, folder) {
  document <- if (result$code %in% c(0, 1)) parse_json(result$stdout)
  if (is.null(document)) fail_of(result)
  # The names of a temporary file and of standard input mean nothing to the reader.
  rename <- function(file) {
    file[file == "stdin"] <- "data"
    if (is.null(model$file)) file[startsWith(file, folder)] <- model$name
    file
  }
  rows <- as_messages(document$messages, rename)
  rows$help <- sub("the data in stdin", "the data", rows$help, fixed = TRUE)
  rows
}

check_model <- function(model, data = NULL, count = character()) {
  with_model(model, function(file, folder) {
    input <- if (is.null(data)) list() else data_arguments(data, folder, model$needs, count)
    result <- run_engine(c("check", "--json", model$arguments, input$args, file), input$stdin)
    messages_of(model, result, folder)
  })
}

# A result whose text has the model's name for its temporary file.
named <- function(result, model, file) {
  if (is.null(model$file)) result$stderr <- gsub(file, model$name, result$stderr, fixed = TRUE)
  result
}

# Signals what is wrong with the model or the data, if that is why a command has failed.
explain <- function(model, file, folder, input) {
  result <- run_engine(c("check", "--json", model$arguments, input$args, file), input$stdin)
  if (result$code != 1 || !nzchar(result$stdout)) {
    return(invisible())
  }
  rows <- messages_of(model, result, folder)
  errors <- rows[rows$severity == "error", ]
  if (nrow(errors)) {
    of_data <- all(startsWith(errors$code, "E06") | !nzchar(errors$code))
    fail(if (of_data) "ppl_data_error" else "ppl_model_error", message_text(errors), messages = errors)
  }
}

# The folder of a run in an environment; a temporary one is removed with it.
run_folder <- function(path = NULL) {
  store <- new.env()
  store$path <- path
  if (is.null(path)) {
    store$path <- tempfile("ppl-fit-")
    reg.finalizer(store, function(e) unlink(e$path, recursive = TRUE), onexit = TRUE)
  }
  store
}

sample_model <- function(model, data, init, out, progress, count, options) {
  store <- run_folder(out)
  if (is.null(out)) on.exit(if (!isTRUE(store$whole)) unlink(store$path, recursive = TRUE))
  options$init <- if (is.list(init) && !inherits(init, "ppl_fit")) data_json(init) else if (inherits(init, "ppl_fit")) init$folder else init
  given <- options_of(options)
  with_model(model, function(file, folder) {
    input <- data_arguments(data, folder, model$needs, count)
    args <- c("run", model$arguments, input$args, "--out", store$path, "--json", "--progress", "json", given, file)
    chains <- if (is.null(options$chains)) 4 else options$chains
    result <- run_engine(args, input$stdin, progress_reader(progress, chains))
    if (result$code == 1) explain(model, file, folder, input)
    document <- parse_json(result$stdout)
    if (result$code != 0 && !(result$code == 3 && !is.null(document))) fail_of(named(result, model, file), findings_of(document$findings), names(options))
    store$whole <- TRUE
    new_fit(store, document)
  })
}

# Log densities, their gradients and constrained values at rows of points, or at the draws of the
# run in a folder. show says what is computed, as --show does.
densities <- function(model, points, data = NULL, jacobian = TRUE, propto = TRUE, count = character(), show = c("density", "gradient", "constrained")) {
  if (inherits(model, "ppl_model")) model <- attr(model, "model")
  with_model(model, function(file, folder) {
    input <- data_arguments(data, folder, model$needs, count)
    at <- points
    if (!is.character(points)) {
      at <- file.path(folder, "points.json")
      if (is.null(dim(points))) points <- matrix(points, 1)
      writeLines(object_json("points", array_json(unname(as.matrix(points)))), at)
    }
    args <- c("logdensity", file, input$args, "--points", at, "--json", model$arguments, "--show", paste(show, collapse = ","))
    result <- run_engine(c(args, if (!propto) "--no-propto", if (!jacobian) "--no-jacobian"), input$stdin)
    if (result$code == 1) explain(model, file, folder, input)
    if (result$code != 0) fail_of(named(result, model, file))
    document <- jsonlite::fromJSON(result$stdout)
    table <- function(rows, names) {
      if (is.list(rows)) { # rejected points are null
        rows <- t(vapply(rows, function(r) if (is.null(r)) rep(NA_real_, length(names)) else as.numeric(r), numeric(length(names))))
      }
      n <- if (is.character(points)) NROW(rows) else nrow(points)
      matrix(as.numeric(rows), n, length(names), dimnames = list(NULL, display_names(as.character(names))))
    }
    found <- list()
    if ("density" %in% show) found$log_density <- as.numeric(document$log_density)
    if ("gradient" %in% show) found$gradient <- table(document$gradient, document$unconstrained_names)
    if ("constrained" %in% show) found$constrained <- table(document$constrained, document$constrained_names)
    if ("generated" %in% show) found$generated <- table(document$generated, document$generated_names)
    if ("points" %in% show) found$points <- table(document$points, document$unconstrained_names)
    found
  })
}
