package lsp

import "encoding/json"

// The structures of the protocol, with the members that are used. Their names and
// those of their members are the protocol's.

type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit has its edits in one of two forms; the second needs a client that takes it.
type WorkspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes,omitempty"`
	DocumentChanges []DocumentEdit        `json:"documentChanges,omitempty"`
}

type DocumentEdit struct {
	TextDocument VersionedDocument `json:"textDocument"`
	Edits        []TextEdit        `json:"edits"`
}

type VersionedDocument struct {
	URI     string `json:"uri"`
	Version *int   `json:"version"` // null: the file is not open
}

type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type InitializeParams struct {
	ProcessID    *int   `json:"processId"`
	RootURI      string `json:"rootUri"`
	Capabilities struct {
		Window struct {
			WorkDoneProgress bool `json:"workDoneProgress"`
		} `json:"window"`
		TextDocument struct {
			Diagnostic *struct{} `json:"diagnostic"` // the client pulls diagnostics
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
		Workspace struct {
			WorkspaceEdit struct {
				DocumentChanges bool `json:"documentChanges"`
			} `json:"workspaceEdit"`
			Diagnostics struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"diagnostics"`
			CodeLens struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"codeLens"`
			InlayHint struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"inlayHint"`
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
	InitializationOptions *Settings `json:"initializationOptions"`
}

// Settings are what an editor can set with initialize.
type Settings struct {
	IncludePaths []string `json:"includePaths"` // folders of #include, after that of the model
	RunSeconds   float64  `json:"runSeconds"`   // limit of a run from the editor; 0: 600
	RunArguments []string `json:"runArguments"` // further arguments of ppl run
	Hints        string   `json:"hints"`        // "all": hints for every expression; otherwise only for results
}

type InitializeResult struct {
	Capabilities map[string]any    `json:"capabilities"`
	ServerInfo   map[string]string `json:"serverInfo"`
}

type TextDocumentIdentifier struct {
	URI string `json:"uri"`
}

type DidOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type DidChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range *Range `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

// DocumentParams are those of requests about a whole document or a part of it.
type DocumentParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        *Range                 `json:"range"`
}

// PlaceParams are those of requests about a place.
type PlaceParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Position     Position               `json:"position"`
	NewName      string                 `json:"newName"` // of rename
	Context      struct {
		IncludeDeclaration *bool `json:"includeDeclaration"` // of references
	} `json:"context"`
}

type CodeActionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type ExecuteCommandParams struct {
	Command       string            `json:"command"`
	Arguments     []json.RawMessage `json:"arguments"`
	WorkDoneToken json.RawMessage   `json:"workDoneToken"`
}

type Diagnostic struct {
	Range    Range             `json:"range"`
	Severity int               `json:"severity"`
	Code     string            `json:"code,omitempty"`
	About    *CodeDescription  `json:"codeDescription,omitempty"`
	Source   string            `json:"source"`
	Message  string            `json:"message"`
	Tags     []int             `json:"tags,omitempty"`
	Related  []RelatedLocation `json:"relatedInformation,omitempty"`
	Data     *DiagnosticData   `json:"data,omitempty"`
}

// CodeDescription has the address of a page about a code.
type CodeDescription struct {
	Href string `json:"href"`
}

type RelatedLocation struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// DiagnosticData is what a diagnostic's code means.
type DiagnosticData struct {
	Title   string `json:"title"`
	Text    string `json:"text,omitempty"`
	Example string `json:"example,omitempty"`
	Fixed   string `json:"fixed,omitempty"`
}

type PublishDiagnosticsParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

type MarkupContent struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) *MarkupContent { return &MarkupContent{"markdown", text} }

type Hover struct {
	Contents *MarkupContent `json:"contents"`
	Range    *Range         `json:"range,omitempty"`
}

type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

type CompletionItem struct {
	Label            string         `json:"label"`
	Kind             int            `json:"kind"`
	Detail           string         `json:"detail,omitempty"`
	Documentation    *MarkupContent `json:"documentation,omitempty"`
	SortText         string         `json:"sortText,omitempty"`
	FilterText       string         `json:"filterText,omitempty"`
	InsertTextFormat int            `json:"insertTextFormat,omitempty"`
	TextEdit         *TextEdit      `json:"textEdit,omitempty"`
	Data             string         `json:"data,omitempty"` // the name in the library
}

type SignatureHelp struct {
	Signatures      []SignatureInformation `json:"signatures"`
	ActiveSignature int                    `json:"activeSignature"`
	ActiveParameter int                    `json:"activeParameter"`
}

type SignatureInformation struct {
	Label         string                 `json:"label"`
	Documentation *MarkupContent         `json:"documentation,omitempty"`
	Parameters    []ParameterInformation `json:"parameters"`
}

type ParameterInformation struct {
	Label         [2]int         `json:"label"` // UTF-16 code units of the signature's label
	Documentation *MarkupContent `json:"documentation,omitempty"`
}

type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

type DocumentHighlight struct {
	Range Range `json:"range"`
	Kind  int   `json:"kind"`
}

type FoldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

type SemanticTokens struct {
	ResultID string `json:"resultId,omitempty"`
	Data     []int  `json:"data"`
}

type SemanticTokensDelta struct {
	ResultID string      `json:"resultId"`
	Edits    []TokenEdit `json:"edits"`
}

type TokenEdit struct {
	Start       int   `json:"start"`
	DeleteCount int   `json:"deleteCount"`
	Data        []int `json:"data"`
}

type DeltaParams struct {
	TextDocument     TextDocumentIdentifier `json:"textDocument"`
	PreviousResultID string                 `json:"previousResultId"`
}

type PullParams struct {
	TextDocument     TextDocumentIdentifier `json:"textDocument"`
	PreviousResultID string                 `json:"previousResultId"`
}

// DiagnosticReport answers a pull. Items is nil if nothing has changed.
type DiagnosticReport struct {
	Kind     string                      `json:"kind"` // full or unchanged
	ResultID string                      `json:"resultId,omitempty"`
	Items    *[]Diagnostic               `json:"items,omitempty"`
	Related  map[string]DiagnosticReport `json:"relatedDocuments,omitempty"`
}

type SelectionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Positions    []Position             `json:"positions"`
}

type SelectionRange struct {
	Range  Range           `json:"range"`
	Parent *SelectionRange `json:"parent,omitempty"`
}

type DocumentLink struct {
	Range  Range  `json:"range"`
	Target string `json:"target"`
}

// TypedParams are those of formatting while the user types.
type TypedParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Position     Position               `json:"position"`
	Typed        string                 `json:"ch"`
}

// CallItem is a function or block that calls or is called.
type CallItem struct {
	Name           string `json:"name"`
	Kind           int    `json:"kind"`
	Detail         string `json:"detail,omitempty"`
	URI            string `json:"uri"`
	Range          Range  `json:"range"`
	SelectionRange Range  `json:"selectionRange"`
	Asked          string `json:"data,omitempty"` // URI of the document whose calls the client asked for first
}

type CallParams struct {
	Item CallItem `json:"item"`
}

type IncomingCall struct {
	From       CallItem `json:"from"`
	FromRanges []Range  `json:"fromRanges"`
}

type OutgoingCall struct {
	To         CallItem `json:"to"`
	FromRanges []Range  `json:"fromRanges"`
}

type QueryParams struct {
	Query string `json:"query"`
}

type SymbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      Location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind"`
	PaddingLeft bool     `json:"paddingLeft,omitempty"`
}

type CodeLens struct {
	Range   Range    `json:"range"`
	Command *Command `json:"command"`
}

type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit"`
}

type MessageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// The types of messages.
const (
	messageError   = 1
	messageWarning = 2
	messageInfo    = 3
	messageLog     = 4
)
