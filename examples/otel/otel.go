// Package otel records runs of ppl as OpenTelemetry spans. It is a separate module, so that ppl
// does not depend on OpenTelemetry; copy it into your program.
//
//	fit, err := otel.Sample(ctx, tracer, posterior, ppl.Options{Seed: 1})
//
// The span of a run has the model, the options and the size of the fit as attributes. It has an
// event when a chain's warm-up ends, and one for each finding. Its parent is the span in the
// context, if any.
package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ppl-lang/ppl"
)

// Bind is [ppl.Model.BindContext], recorded as a span.
func Bind(ctx context.Context, tracer trace.Tracer, m *ppl.Model, values any, o ppl.BindOptions) (*ppl.Posterior, error) {
	ctx, span := tracer.Start(ctx, "ppl.bind", trace.WithAttributes(attribute.String("ppl.model", m.Name())))
	defer span.End()
	p, err := m.BindContext(ctx, values, o)
	if err != nil {
		for _, d := range ppl.Diagnostics(err) {
			span.AddEvent("ppl.diagnostic", trace.WithAttributes(attribute.String("ppl.code", string(d.Code))))
		}
		return nil, failed(span, err)
	}
	span.SetAttributes(attribute.Int("ppl.parameters", p.Dim()))
	return p, nil
}

// Sample is [ppl.Sample], recorded as a span.
func Sample(ctx context.Context, tracer trace.Tracer, p *ppl.Posterior, o ppl.Options) (*ppl.Fit, error) {
	ctx, span := tracer.Start(ctx, "ppl.sample", trace.WithAttributes(
		attribute.String("ppl.model", p.Name()), attribute.Int("ppl.parameters", p.Dim()), attribute.Int64("ppl.seed", int64(o.Seed))))
	defer span.End()
	run, err := ppl.NewRun(ctx, p, o)
	if err != nil {
		return nil, failed(span, err)
	}
	warm := map[int]bool{}
	for now, err := range run.Progress() {
		if err == nil && !now.Warmup && !warm[now.Chain] {
			warm[now.Chain] = true
			span.AddEvent("ppl.warm", trace.WithAttributes(attribute.Int("ppl.chain", now.Chain+1)))
		}
	}
	fit, err := run.Fit()
	if err != nil {
		return fit, failed(span, err)
	}
	draws, divergences := 0, 0
	for i, chain := range fit.Report.Chains {
		draws += fit.Draws.Len(i)
		divergences += chain.Sampling.Divergences
	}
	span.SetAttributes(attribute.Int("ppl.draws", draws), attribute.Int("ppl.divergences", divergences))
	for _, f := range fit.Findings() {
		span.AddEvent("ppl.finding", trace.WithAttributes(attribute.String("ppl.code", f.Code), attribute.String("ppl.summary", f.Summary)))
	}
	return fit, nil
}

// failed records an error.
func failed(span trace.Span, err error) error {
	span.RecordError(err)
	span.SetStatus(codes.Error, err.Error())
	return err
}
