package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/creachadair/jrpc2"

	"github.com/ppl-lang/ppl/lang/service"
)

// method is a method of the protocol that the server answers.
type method struct {
	name string
	// provider is the member of the server's capabilities for the method, and value its value;
	// empty for methods that need none.
	provider string
	value    any
	handle   func(*server, context.Context, json.RawMessage) (any, error)
}

// table lists all methods. The capabilities are made from it.
func table() []method {
	return []method{
		{"initialize", "textDocumentSync", map[string]any{"openClose": true, "change": 2, "save": true}, with((*server).initialize)},
		{"initialized", "positionEncoding", "utf-16", with((*server).initialized)},
		{"shutdown", "", nil, with((*server).shutdown)},
		{"exit", "", nil, with((*server).exit)},
		{methodGone, "", nil, with((*server).gone)},
		{"$/cancelRequest", "", nil, with((*server).cancelRequest)},
		{"$/setTrace", "", nil, ignore},
		{"window/workDoneProgress/cancel", "", nil, with((*server).cancelProgress)},

		{"textDocument/didOpen", "", nil, with((*server).didOpen)},
		{"textDocument/didChange", "", nil, with((*server).didChange)},
		{"textDocument/didSave", "", nil, with((*server).didSave)},
		{"textDocument/didClose", "", nil, with((*server).didClose)},
		{"workspace/didChangeWatchedFiles", "", nil, ignoreAnd((*server).filesChanged)},
		{"workspace/didChangeConfiguration", "", nil, ignore},

		{"textDocument/completion", "completionProvider", map[string]any{"triggerCharacters": []string{"~", "<", "(", ",", "\"", "/"}, "resolveProvider": true}, with((*server).completion)},
		{"completionItem/resolve", "", nil, with((*server).resolve)},
		{"textDocument/hover", "hoverProvider", true, with((*server).hover)},
		{"textDocument/signatureHelp", "signatureHelpProvider", map[string]any{"triggerCharacters": []string{"(", ",", "|"}}, with((*server).signatureHelp)},
		{"textDocument/definition", "definitionProvider", true, with((*server).definition)},
		{"textDocument/references", "referencesProvider", true, with((*server).references)},
		{"textDocument/documentHighlight", "documentHighlightProvider", true, with((*server).highlight)},
		{"textDocument/prepareRename", "", nil, with((*server).prepareRename)},
		{"textDocument/rename", "renameProvider", map[string]any{"prepareProvider": true}, with((*server).rename)},

		{"textDocument/prepareCallHierarchy", "callHierarchyProvider", true, with((*server).prepareCalls)},
		{"callHierarchy/incomingCalls", "", nil, with((*server).incomingCalls)},
		{"callHierarchy/outgoingCalls", "", nil, with((*server).outgoingCalls)},
		{"workspace/symbol", "workspaceSymbolProvider", true, with((*server).workspaceSymbol)},
		{"textDocument/diagnostic", "diagnosticProvider", map[string]any{"interFileDependencies": true, "workspaceDiagnostics": false}, with((*server).pull)},

		{"textDocument/documentSymbol", "documentSymbolProvider", true, with((*server).documentSymbol)},
		{"textDocument/foldingRange", "foldingRangeProvider", true, with((*server).foldingRange)},
		{"textDocument/formatting", "documentFormattingProvider", true, with((*server).formatting)},
		{"textDocument/rangeFormatting", "documentRangeFormattingProvider", true, with((*server).formatting)},
		{"textDocument/onTypeFormatting", "documentOnTypeFormattingProvider", map[string]any{"firstTriggerCharacter": "}", "moreTriggerCharacter": []string{";"}}, with((*server).onType)},
		{"textDocument/selectionRange", "selectionRangeProvider", true, with((*server).selectionRange)},
		{"textDocument/documentLink", "documentLinkProvider", map[string]any{}, with((*server).documentLink)},
		{"textDocument/semanticTokens/full", "semanticTokensProvider", map[string]any{
			"legend": map[string]any{"tokenTypes": service.TokenTypeNames, "tokenModifiers": service.TokenModifierNames}, "full": map[string]any{"delta": true}, "range": true,
		}, with((*server).semanticTokens)},
		{"textDocument/semanticTokens/full/delta", "", nil, with((*server).semanticTokensDelta)},
		{"textDocument/semanticTokens/range", "", nil, with((*server).semanticTokens)},
		{"textDocument/inlayHint", "inlayHintProvider", true, with((*server).inlayHint)},
		{"textDocument/codeLens", "codeLensProvider", map[string]any{}, with((*server).codeLens)},
		{"textDocument/codeAction", "codeActionProvider", map[string]any{"codeActionKinds": []string{"quickfix", "source.fixAll", "refactor.rewrite"}}, with((*server).codeAction)},
		{"workspace/executeCommand", "executeCommandProvider", map[string]any{"commands": []string{commandRun, commandCheck, commandReport}}, with((*server).executeCommand)},
	}
}

// numberKey is the key of a message's number in its context.
type numberKey struct{}

// with makes a handler from a function that takes the parameters as a structure.
func with[P any](f func(*server, context.Context, *P) (any, error)) func(*server, context.Context, json.RawMessage) (any, error) {
	return func(s *server, ctx context.Context, params json.RawMessage) (any, error) {
		p := new(P)
		if len(params) > 0 {
			if err := json.Unmarshal(params, p); err != nil {
				return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the parameters cannot be read: %v", err)
			}
		}
		return f(s, ctx, p)
	}
}

func ignore(*server, context.Context, json.RawMessage) (any, error) { return nil, nil }

// ignoreAnd is a handler that needs no parameters.
func ignoreAnd(f func(*server)) func(*server, context.Context, json.RawMessage) (any, error) {
	return func(s *server, _ context.Context, _ json.RawMessage) (any, error) {
		f(s)
		return nil, nil
	}
}

// capabilities returns the server's capabilities, from the table of methods.
func capabilities() map[string]any {
	out := map[string]any{}
	for _, m := range table() {
		if m.provider != "" {
			out[m.provider] = m.value
		}
	}
	return out
}

// none is the type of parameters for methods without parameters.
type none struct{}

// Codes of errors beyond those of JSON-RPC.
const (
	serverNotInitialized jrpc2.Code = -32002
	requestCancelled     jrpc2.Code = -32800
	requestFailed        jrpc2.Code = -32803
	contentModified      jrpc2.Code = -32801
)

// Assign implements jrpc2.Assigner.
func (s *server) Assign(ctx context.Context, name string) jrpc2.Handler {
	for _, m := range s.methods {
		if m.name == name {
			// Calls of this function come in the order of the messages; the functions that it
			// returns may run in any order.
			refused := s.mayHandle(name)
			number := s.received()
			return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
				// A fault of the server in one answer must not end the session.
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("internal error in %s: %v", name, p)
						s.log.Print(err)
					}
				}()
				if refused != nil {
					return nil, refused
				}
				var params json.RawMessage
				if err := r.UnmarshalParams(&params); err != nil {
					return nil, err
				}
				result, err = m.handle(s, context.WithValue(ctx, numberKey{}, number), params)
				if ctx.Err() != nil {
					return nil, jrpc2.Errorf(requestCancelled, "cancelled")
				}
				return result, err
			}
		}
	}
	return nil
}
