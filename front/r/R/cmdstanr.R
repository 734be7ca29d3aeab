# CmdStanR's model methods, which it compiles as C++, by libppl: ?ppl_cmdstanr.
#
# stanc of `ppl cmdstan-home` writes the model into a comment where Stan's writes C++. CmdStanR hands
# that text to expose_model_methods, which fills an environment with functions that are compiled. Ours
# fills it with the functions below, of the same names and arguments, if the text is of ppl.

mark <- "// ppl: "

ppl_cmdstanr <- function() {
  needs_packages("ppl_cmdstanr", "cmdstanr")
  compiled <- utils::getFromNamespace("expose_model_methods", "cmdstanr")
  if (!is.null(attr(compiled, "ppl"))) {
    return(invisible(FALSE))
  }
  served <- function(env, verbose = FALSE, ...) {
    model <- grep(mark, env$hpp_code_, fixed = TRUE, value = TRUE)
    if (length(model) != 1) {
      return(compiled(env, verbose, ...))
    }
    expose(env, sub(mark, "", model, fixed = TRUE))
  }
  attr(served, "ppl") <- TRUE
  utils::assignInNamespace("expose_model_methods", served, "cmdstanr")
  invisible(TRUE)
}

# Fills an environment with the functions that CmdStanR's model_methods.cpp has.
expose <- function(env, program) {
  library_functions() # or the error is here
  variables <- unlist(jsonlite::fromJSON(program)$variables)
  methods <- list(
    model_ptr = function(data_path, seed) {
      data <- if (nzchar(data_path)) read_text(data_path) else ""
      bound <- bind_json(program, data, seed)
      list(model_ptr = bound, base_rng = bound)
    },
    log_prob = function(bound, upars, jac_adjust) log_density_at(bound, upars, jac_adjust, TRUE),
    grad_log_prob = function(bound, upars, jac_adjust) {
      found <- gradient_at(bound, upars, jac_adjust, TRUE)
      structure(found$gradient, log_prob = found$value)
    },
    hessian = function(bound, upars, jacobian) {
      found <- hessian_at(bound, upars, jacobian, TRUE)
      list(log_prob = found$value, grad_log_prob = found$gradient, hessian = found$hessian)
    },
    get_num_upars = function(bound) bound$dim,
    get_param_metadata = function(bound) shapes(variables, names_at(bound, TRUE, TRUE)),
    unconstrain_variables = function(bound, variables) unconstrain_at(bound, variables),
    unconstrain_draws = function(bound, variables) {
      values <- apply(variables, 1, function(row) unconstrain_at(bound, row))
      if (is.null(dim(values))) values <- matrix(values, bound$dim)
      lapply(seq_len(nrow(values)), function(i) values[i, ])
    },
    constrain_variables = function(bound, rng, upars, return_trans_pars, return_gen_quants) {
      unname(constrain_at(bound, upars, return_trans_pars, return_gen_quants))
    },
    unconstrained_param_names = function(bound, ...) unconstrained_names_at(bound),
    constrained_param_names = function(bound, transformed, generated) names_at(bound, transformed, generated)
  )
  for (name in names(methods)) assign(name, methods[[name]], envir = env)
  invisible()
}

# The dimensions of variables by the names of their elements, x.2.3 the last of a 2 x 3 matrix; a
# variable that has none is empty.
shapes <- function(variables, names) {
  of <- sub("[.:].*$", "", names)
  at <- sub("^[^.:]*[.:]?", "", names)
  lapply(stats::setNames(variables, variables), function(v) {
    if (!v %in% of) {
      return(0)
    }
    last <- at[of == v]
    last <- last[length(last)]
    if (nzchar(last)) as.numeric(strsplit(last, "[.:]")[[1]]) else numeric()
  })
}
