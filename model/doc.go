// Package model compiles models and binds them to data. A [Model] is a program in Stan's language
// that was compiled without data. [Model.Bind] makes a [Posterior] from it: a log density over
// unconstrained parameters with its gradient, which the samplers of package infer accept.
//
//	m, err := model.CompileFile("eight_schools.model")
//	posterior, err := m.Bind(map[string]any{"J": 8, "y": y, "sigma": sigma})
//	lp, err := posterior.LogDensityGrad(x, gradient) // x has posterior.Dim() elements
//	values, err := posterior.Constrain(x)            // named by posterior.ConstrainedNames()
//
// # Map
//
//	model.go        Compile, Bind: from texts and data to models and posteriors
//	posterior.go    Posterior: log density, gradient, constrained values
//	derive.go       models derived from another one's text, by package predict
//	diagnostics.go  errors with positions in the source
//
// Package fit samples posteriors.
package model
