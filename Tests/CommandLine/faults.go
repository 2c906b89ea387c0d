// A plugin whose calls fail in every way that is possible in Go, for test_languages.py.
package main

/*
static void fault(void) { *(volatile int *)8 = 1; }
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

type faults struct{ mode string }

func (f *faults) Needs() Needs {
	if f.mode == "wrap" {
		return Needs{Flags: NeedReplaceBody, Digests: []string{"sha-256"}}
	}
	return Needs{Flags: NeedChallenges | NeedOtherResponses | NeedState, ChallengeStatuses: []int32{418}}
}

type upper struct{}

func (upper) Piece(piece []byte, isLast bool, output *Output) error {
	_, err := output.Write(bytes.ToUpper(piece))
	return err
}

// Doesn't ask for a challenge's body. A retry has the state.
func (f *faults) OnResponse(request *View, token any, response *Response, replies *Replies) (Verdict, error) {
	switch {
	case f.mode == "refuse":
		return Nothing, Unavailable("refused: " + response.Header("x-why"))
	case response.Status == 418 && len(request.State()) == 0:
		replies.SetState([]byte("tea"))
		return RetryOnce, nil
	}
	return Nothing, nil
}

func (f *faults) Authorize(request *View, token any, edits *Edits) error {
	switch f.mode {
	case "panic":
		panic("a text for the detail")
	case "nil":
		edits = nil
		edits.SetHeader("a", nil)
	case "error":
		return fmt.Errorf("a text for the detail")
	case "panic-nil":
		panic(nil)
	case "no-status":
		return &Error{Message: "a text without a status"}
	case "nil-error":
		var own *Error
		return own
	case "internal":
		return Internal("a fault of its own")
	case "fatal":
		new(sync.Mutex).Unlock()
	case "c":
		C.fault()
	case "exit":
		os.Exit(3)
	}
	if f.mode == "wrap" {
		edits.SetHeader("X-Digest", []byte(fmt.Sprint(len(request.Digest("sha-256")))))
		edits.WrapBody(3, upper{})
		return nil
	}
	edits.SetHeader("X-State", request.State())
	edits.SetHeader("X-Threads", []byte(fmt.Sprint(runtime.NumGoroutine())))
	return nil
}

// A deferred function runs at the flow's end, even if it begins an action of a cancelled flow.
func (f *faults) Login(flow *Flow) (*Issued, error) {
	switch f.mode {
	case "login-panic":
		panic("a text for the detail")
	case "login-sleep":
		time.Sleep(time.Millisecond)
	case "login-state":
		flow.SetState([]byte("early"))
		if _, err := flow.Ask(Question{Name: "a", Prompt: "A"}); err != nil {
			return nil, err
		}
		flow.SetState(append(flow.State, " and late"...))
		return &Issued{Bytes: []byte("token")}, nil
	case "login-first-state":
		flow.SetState([]byte("early"))
	case "login-wait":
		defer func() { _ = flow.Show("deferred", "") }()
		return nil, flow.Wait(time.Minute)
	}
	_, err := flow.Ask(Question{Name: "a", Prompt: "A"})
	if err != nil {
		return nil, err
	}
	return &Issued{Bytes: []byte("token")}, nil
}

func define(id string, flows bool) Definition {
	return Definition{
		ID: id, Title: "Faults", Flows: flows,
		Settings: []Setting{{Name: "mode", Help: "How to fail", Flags: Required}},
		Create: func(settings Settings, host *Host) (Scheme, error) {
			if settings.Text("mode") == "create" {
				panic("a text for the detail")
			}
			host.Log(Warning, "made")
			return &faults{settings.Text("mode")}, nil
		},
	}
}

var _ = Export(Plugin{Name: "Faults", Version: "1.0.0", Vendor: "Tests", Schemes: []Definition{
	define("direct", false), define("logs-in", true),
}})
