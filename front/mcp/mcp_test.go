package mcp

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// TestMessages checks the answers to messages that no proper client sends. The server goes on. The
// tests of ppl mcp have the rest, with the client of the protocol's Go SDK.
func TestMessages(t *testing.T) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- Serve(t.Context(), in, out, Options{Name: "x", MaxMessage: 1000}) }()
	answers := bufio.NewReader(from)
	for _, c := range []struct{ message, answer string }{
		{`rubbish`, `-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `begins with initialize`},
		{`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`, `of version 2026-07-28`},
		{`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2999-01-01"}}}`, `"code":-32022`},
		{`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`, `"tools":[]`},
		{`{"jsonrpc":"2.0","id":6,"method":"initialize","params":[1]}`, `-32602`},
		{`{"jsonrpc":"2.0","id":7,"method":"nothing"}`, `-32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"nothing"}`, `there is no method nothing`},
		{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":5}}`, `number into Go struct field`},
		{`{"jsonrpc":"2.0","method":"nothing"}` + "\n\n" + `{"jsonrpc":"2.0","id":"8","method":"ping"}`, `"id":"8","result":{}`},
	} {
		if _, err := io.WriteString(to, c.message+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || !strings.Contains(got, c.answer) {
			t.Errorf("%s\nis answered by %q, %v; want %s", c.message, got, err, c.answer)
		}
	}
	go io.WriteString(to, `{"jsonrpc":"2.0","id":9,"method":"`+strings.Repeat("x", 5000)+`"}`)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "more than 1000 bytes") {
		t.Errorf("after a message that is too long: %v", err)
	}
}
