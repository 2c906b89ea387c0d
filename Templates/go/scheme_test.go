package main

import (
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	made, err := create(Settings{{"key", []byte("me")}, {"secret", []byte("s3cret")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, line := range made.(*scheme).lines(time.Unix(1767225600, 0)) {
		found += line.Name + ": " + string(line.Value) + "\n"
	}
	if found != "X-Key: me\nX-Secret: s3cret\nX-Time: 1767225600\n" {
		t.Errorf("found\n%s", found)
	}
}

func TestEmptySettings(t *testing.T) {
	for _, settings := range []Settings{{}, {{"key", []byte("me")}}, {{"secret", []byte("s3cret")}}} {
		if _, err := create(settings, nil); err == nil {
			t.Errorf("%v was accepted", settings)
		}
	}
}
