// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/apischema"
)

// revealed are all fields of a value and what they are set to, a line each: any of them may reach a program that runs with the
// rights of a namespace. A text stands in one line, so that it cannot look like another field.
func revealed(path string, value any) []string {
	var lines []string
	switch of := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(of)) {
			lines = append(lines, revealed(strings.TrimPrefix(path+"."+name, "."), of[name])...)
		}
	case []any:
		if !slices.ContainsFunc(of, isObject) {
			break
		}
		for i, element := range of {
			lines = append(lines, revealed(path+"["+strconv.Itoa(i)+"]", element)...)
		}
	}
	if len(lines) > 0 {
		return lines
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte(err.Error())
	}
	return []string{fmt.Sprintf("  %s: %s", path, text)}
}

func isObject(value any) bool {
	_, is := value.(map[string]any)
	return is
}

var (
	errNoConsent = errors.New("nothing was created: the input is not a terminal, and --yes is not set. Read above what the bundle " +
		"runs, then repeat the command with --yes")
	errDeclined = errors.New("nothing was created")
)

// consented shows what the specification of a stranger would run, and asks unless that was answered by a flag.
func consented(streams genericiooptions.IOStreams, s subject, yes bool) error {
	object, err := apischema.Object(s.object())
	if err != nil {
		return err
	}
	say(streams.ErrOut, fmt.Sprintf("The bundle runs this as %s %s in namespace %s:", s.kind().name, s.object().GetName(),
		s.object().GetNamespace()))
	for _, line := range revealed("", object["spec"]) {
		say(streams.ErrOut, shown(line))
	}
	if yes {
		return nil
	}
	file, isFile := streams.In.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return errNoConsent
	}
	return confirmed(streams)
}

// confirmed is nil if the user agrees.
func confirmed(streams genericiooptions.IOStreams) error {
	if _, err := io.WriteString(streams.ErrOut, "Create it? [y/N] "); err != nil {
		return err
	}
	answer, err := bufio.NewReader(streams.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}
