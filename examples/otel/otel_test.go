package otel_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/examples/otel"
)

const coin = `
data {
  int<lower=0> n;
  int<lower=0, upper=n> heads;
}
parameters {
  real<lower=0, upper=1> p;
}
model {
  heads ~ binomial(n, p);
}
`

// names returns the names of a span's events.
func names(s tracetest.SpanStub) []string {
	var all []string
	for _, e := range s.Events {
		all = append(all, e.Name)
	}
	return all
}

// TestSpans checks that a run has two spans below the span of the request, with an event for each
// chain.
func TestSpans(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tracer := trace.NewTracerProvider(trace.WithSyncer(exporter)).Tracer("test")
	ctx, request := tracer.Start(t.Context(), "request")
	model, err := ppl.Compile("coin", coin)
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := otel.Bind(ctx, tracer, model, map[string]int{"n": 10, "heads": 7}, ppl.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := otel.Sample(ctx, tracer, posterior, ppl.Options{Seed: 1, Chains: 2})
	if err != nil || fit.Draws.Len(1) != 1000 {
		t.Fatal(err)
	}
	request.End()
	spans := exporter.GetSpans()
	if len(spans) != 3 || spans[0].Name != "ppl.bind" || spans[1].Name != "ppl.sample" {
		t.Fatalf("%+v", spans)
	}
	if spans[1].Parent.SpanID() != request.SpanContext().SpanID() || !slices.Equal(names(spans[1]), []string{"ppl.warm", "ppl.warm"}) {
		t.Errorf("%+v", spans[1])
	}
	found := map[string]int64{}
	for _, a := range spans[1].Attributes {
		found[string(a.Key)] = a.Value.AsInt64()
	}
	if found["ppl.draws"] != 2000 || found["ppl.parameters"] != 1 {
		t.Errorf("%v", found)
	}
}

// TestFailures checks that a failed call has a span with its error.
func TestFailures(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tracer := trace.NewTracerProvider(trace.WithSyncer(exporter)).Tracer("test")
	model, err := ppl.Compile("coin", coin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := otel.Bind(t.Context(), tracer, model, map[string]int{"n": 10, "heads": 11}, ppl.BindOptions{}); err == nil {
		t.Error("impossible data are bound")
	}
	posterior, err := model.Bind(map[string]int{"n": 10, "heads": 7})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client is gone")
	cancel(gone)
	if _, err := otel.Sample(ctx, tracer, posterior, ppl.Options{Seed: 1}); !errors.Is(err, gone) {
		t.Error(err)
	}
	spans := exporter.GetSpans()
	if len(spans) != 2 || spans[0].Status.Code != codes.Error || spans[1].Status.Code != codes.Error || !slices.Contains(names(spans[0]), "ppl.diagnostic") {
		t.Errorf("%+v", spans)
	}
}
