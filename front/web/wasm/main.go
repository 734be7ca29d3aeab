//go:build js && wasm

// Command wasm runs package engine in a web worker of the playground's page. The worker's script,
// web/page/worker.js, calls pplAsk(id, kind, bytes). The program answers with any number of calls
// pplTell(id, event, bytes); the last event of a request is "answer" or "failure".
package main

import (
	"context"
	"runtime/debug"
	"syscall/js"

	"github.com/ppl-lang/ppl/front/web/engine"
)

// request is a request from the page.
type request struct {
	id   int
	kind string
	body []byte
}

func main() {
	// Collect garbage rarely: memory is plentiful, and no other thread can collect in the
	// background.
	debug.SetGCPercent(400)
	tell := js.Global().Get("pplTell")
	send := func(id int, event string, body []byte) {
		bytes := js.Global().Get("Uint8Array").New(len(body))
		js.CopyBytesToJS(bytes, body)
		tell.Invoke(id, event, bytes)
	}
	requests := make(chan request, 1024)
	js.Global().Set("pplAsk", js.FuncOf(func(_ js.Value, args []js.Value) any {
		r := request{id: args[0].Int(), kind: args[1].String(), body: make([]byte, args[2].Length())}
		js.CopyBytesToGo(r.body, args[2])
		requests <- r
		return nil
	}))
	send(0, "ready", nil)
	e := engine.New()
	for r := range requests { // one after another
		answer, err := e.Do(context.Background(), r.kind, r.body, func(event string, body []byte) { send(r.id, event, body) })
		if err != nil {
			send(r.id, "failure", engine.Failure(err))
			continue
		}
		send(r.id, "answer", answer)
	}
}
