# Log densities, gradients and transforms in this process, by libppl.
#
# Calls go through .C to the functions of BridgeStan's interface. A pointer of C is eight bytes in R.

# What this process has loaded: the functions of libraries by path, the process that has, and a token
# that no saved object has.
loaded <- new.env()

# The path of libppl: by option, by environment variable, or in the folder of the program.
ppl_library <- function() {
  given <- getOption("ppl.library", Sys.getenv("PPL_LIBRARY"))
  if (nzchar(given)) {
    if (!file.exists(given)) {
      fail("ppl_path_error", sprintf("there is no library %s, which the option ppl.library or the environment variable PPL_LIBRARY names", given))
    }
    return(normalizePath(given))
  }
  program <- ppl_path()
  for (name in c("libppl.so", "libppl.dylib", "ppl.dll")) {
    path <- file.path(dirname(normalizePath(program)), name)
    if (file.exists(path)) {
      return(path)
    }
  }
  fail("ppl_path_error", paste(
    "libppl, which evaluates densities in this process, is not in the folder of the program ppl: put it there, or name it",
    "by options(ppl.library = \"/path/of/libppl.so\") or the environment variable PPL_LIBRARY"
  ))
}

# The functions of the library that are called; a process loads a library once. A process that was
# forked has the library without its threads, where calls never end.
library_functions <- function() {
  if (!is.null(loaded$process) && loaded$process != Sys.getpid()) {
    fail("ppl_run_error", "this process was forked after libppl was loaded: bind models in processes that start anew, such as those of parallel::makePSOCKcluster", code = 1L, findings = NULL)
  }
  path <- ppl_library()
  if (is.null(loaded[[path]])) {
    dll <- tryCatch(dyn.load(path), error = function(e) fail("ppl_path_error", paste("cannot load libppl:", conditionMessage(e))))
    functions <- c(
      "bs_model_construct", "bs_model_destruct", "bs_free_error_msg", "bs_param_names", "bs_param_unc_names", "bs_param_num",
      "bs_param_unc_num", "bs_param_constrain", "bs_param_unconstrain", "bs_param_unconstrain_json", "bs_log_density",
      "bs_log_density_gradient", "bs_log_density_hessian", "bs_rng_construct", "bs_rng_destruct"
    )
    loaded$process <- Sys.getpid()
    loaded$token <- new.env()
    loaded[[path]] <- lapply(stats::setNames(functions, functions), function(name) getNativeSymbolInfo(paste0(name, "_R"), dll)$address)
  }
  loaded[[path]]
}

pointer <- function() raw(8)

# Calls a function that may fail: it returns a code, or a pointer called made, that says so. Its last
# two arguments are the message and the pointer to it, which mean nothing unless it has failed.
call_library <- function(name, ..., class = "ppl_run_error") {
  f <- library_functions()
  result <- .C(f[[name]], ..., message = "", said = pointer(), NAOK = TRUE)
  if (if (is.null(result$code)) all(result$made == 0) else result$code != 0) {
    .C(f$bs_free_error_msg, result$said)
    fail(class, result$message, code = 1L, findings = NULL)
  }
  result
}

# Binds a model to data given as JSON. program is the model as libppl takes it: its text, the path of
# its file, or an object.
#
# The bound model is freed with the environment that is returned. A saved and reloaded one is bound
# anew, since its pointers mean nothing to another process.
bind_json <- function(program, data, seed) {
  text <- trimws(data)
  rest <- trimws(substring(text, 2))
  data <- paste0("{\"__ppl\":", program, if (!nzchar(text) || rest == "}") "}" else paste0(",", rest))
  bound <- new.env()
  bound$data <- data
  bound$seed <- as.integer(seed)
  construct(bound)
  bound
}

construct <- function(bound) {
  made <- call_library("bs_model_construct", bound$data, bound$seed, made = pointer(), class = "ppl_data_error")
  bound$model <- made$made
  bound$rng <- call_library("bs_rng_construct", bound$seed, made = pointer())$made
  bound$token <- loaded$token
  reg.finalizer(bound, function(b) {
    if (!identical(b$token, loaded$token) || loaded$process != Sys.getpid()) {
      return(invisible())
    }
    f <- library_functions()
    .C(f$bs_rng_destruct, b$rng)
    .C(f$bs_model_destruct, b$model)
  })
  bound$dim <- .C(library_functions()$bs_param_unc_num, bound$model, n = 0L)$n
}

# The pointer to a model, in this process.
model_of <- function(bound) {
  if (!identical(bound$token, loaded$token)) construct(bound)
  bound$model
}

point_of <- function(bound, x) {
  x <- as.double(x)
  if (length(x) != bound$dim) usage(sprintf("a point has %d unconstrained values, but %d were given", bound$dim, length(x)))
  x
}

split_names <- function(text) if (nzchar(text)) strsplit(text, ",", fixed = TRUE)[[1]] else character()

names_at <- function(bound, transformed = FALSE, generated = FALSE) {
  split_names(.C(library_functions()$bs_param_names, model_of(bound), as.integer(transformed), as.integer(generated), names = "")$names)
}

# Names as package posterior has them: x[2,3] for x.2.3.
bracketed <- function(names) {
  has <- grepl("\\.", names)
  names[has] <- paste0(gsub("\\.", ",", sub("\\.", "[", names[has])), "]")
  names
}

unconstrained_names_at <- function(bound) split_names(.C(library_functions()$bs_param_unc_names, model_of(bound), names = "")$names)

log_density_at <- function(bound, x, jacobian, propto) {
  x <- point_of(bound, x)
  call_library("bs_log_density", model_of(bound), as.integer(propto), as.integer(jacobian), x, value = 0, code = 0L)$value
}

gradient_at <- function(bound, x, jacobian, propto) {
  x <- point_of(bound, x)
  found <- call_library(
    "bs_log_density_gradient", model_of(bound), as.integer(propto), as.integer(jacobian), x,
    value = 0, gradient = double(length(x)), code = 0L
  )
  found[c("value", "gradient")]
}

hessian_at <- function(bound, x, jacobian, propto) {
  x <- point_of(bound, x)
  found <- call_library(
    "bs_log_density_hessian", model_of(bound), as.integer(propto), as.integer(jacobian), x,
    value = 0, gradient = double(length(x)), hessian = double(length(x)^2), code = 0L
  )
  list(value = found$value, gradient = found$gradient, hessian = matrix(found$hessian, length(x)))
}

constrain_at <- function(bound, x, transformed, generated) {
  x <- point_of(bound, x)
  names <- names_at(bound, transformed, generated)
  model <- model_of(bound)
  values <- call_library(
    "bs_param_constrain", model, as.integer(transformed), as.integer(generated), x,
    values = double(length(names)), bound$rng, code = 0L
  )$values
  stats::setNames(values, names)
}

# Unconstrained values of the parameters' values, in the order of names_at.
unconstrain_at <- function(bound, values) {
  values <- as.double(values)
  n <- .C(library_functions()$bs_param_num, model_of(bound), 0L, 0L, n = 0L)$n
  if (length(values) != n) usage(sprintf("the parameters have %d values, but %d were given", n, length(values)))
  call_library("bs_param_unconstrain", model_of(bound), values, x = double(bound$dim), code = 0L)$x
}

unconstrain_json_at <- function(bound, text) {
  call_library("bs_param_unconstrain_json", model_of(bound), text, x = double(bound$dim), code = 0L)$x
}

# Binds a model of this package to data: see ?ppl_posterior.
bind_model <- function(model, data, seed, count) {
  text <- if (is.character(data) && is.null(names(data)) && length(data) == 1) {
    if (!file.exists(data)) wrong_data(sprintf("there is no file %s", data), "give the path of a file of JSON, or a list")
    if (!grepl("\\.json$", data)) wrong_data(sprintf("%s is not a file of JSON", data), "give the path of a file of JSON, or a list")
    read_text(data)
  } else if (is.data.frame(data)) {
    columns <- lapply(columns_of(data, model$needs), function(v) if (is.factor(v)) as.integer(v) else v)
    columns_json(columns, counts_in(data, count), model$needs)
  } else {
    data_json(data, model$needs)
  }
  program <- list(text = model$text, name = if (is.null(model$file)) paste0(model$name, ".stan") else model$file)
  folders <- model$arguments[model$arguments != "--include-path" & model$arguments != "--legacy"]
  if (!is.null(model$file)) folders <- c(dirname(model$file), folders)
  program$include <- I(as.list(folders))
  bound <- bind_json(as.character(jsonlite::toJSON(program, auto_unbox = TRUE)), text, seed)
  structure(
    class = "ppl_posterior",
    list(
      dim = bound$dim,
      unconstrained_names = bracketed(unconstrained_names_at(bound)),
      names = function(transformed = TRUE, generated = FALSE) bracketed(names_at(bound, transformed, generated)),
      log_density = function(x, jacobian = TRUE, propto = TRUE) log_density_at(bound, x, jacobian, propto),
      log_density_gradient = function(x, jacobian = TRUE, propto = TRUE) gradient_at(bound, x, jacobian, propto),
      log_density_hessian = function(x, jacobian = TRUE, propto = TRUE) hessian_at(bound, x, jacobian, propto),
      constrain = function(x, transformed = TRUE, generated = FALSE) {
        values <- constrain_at(bound, x, transformed, generated)
        stats::setNames(values, bracketed(names(values)))
      },
      unconstrain = function(values) unconstrain_json_at(bound, data_json(values))
    )
  )
}

print.ppl_posterior <- function(x, ...) {
  cat(sprintf("Posterior with %d unconstrained parameters\n", x$dim))
  cat("$log_density(x), $log_density_gradient(x), $log_density_hessian(x), $constrain(x), $unconstrain(values)\n")
  invisible(x)
}
