// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// betweenWatches is how long a watch that has ended is not begun again: a cluster that ends all of them at once must not be
// queried without a pause.
const betweenWatches = time.Second

// change of an object in a cluster.
type change[T client.Object] struct {
	object  T
	deleted bool
	// listed: all objects that there are now have been sent. The object is not set.
	listed bool
	err    error
}

// changes sends every object that a list selects, and then those that change, until the context ends. A watch that breaks is
// begun again, with a new list. An error ends it, unless it may be over soon: an API server that has answered before may
// restart.
func changes[T client.Object](
	ctx context.Context, cl client.WithWatch, list client.ObjectList, options ...client.ListOption,
) <-chan change[T] {
	out := make(chan change[T])
	send := func(c change[T]) bool {
		select {
		case out <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(out)
		begun := false
		for ctx.Err() == nil {
			err := listAndWatch(ctx, cl, list, func(c change[T]) bool {
				begun = true
				return send(c)
			}, options)
			if err != nil && !passes(err) && (!begun || !unreachable(err)) {
				send(change[T]{err: err})
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(betweenWatches):
			}
		}
	}()
	return out
}

// passes says whether an error may be over in a moment: the API server is busy, restarts, or has forgotten where a watch
// was.
func passes(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// errReader is for what a list or a watch holds and is not of the right type.
var errReader = errors.New("the API server sent an object of another kind")

// listAndWatch returns nil when the watch has ended.
func listAndWatch[T client.Object](ctx context.Context, cl client.WithWatch, of client.ObjectList, send func(change[T]) bool,
	options []client.ListOption,
) error {
	list := of.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy has the same type
	if err := cl.List(ctx, list, options...); err != nil {
		return err
	}
	sent := func(o runtime.Object, deleted bool) error {
		object, isT := o.(T)
		if !isT {
			return errReader
		}
		if !send(change[T]{object: object, deleted: deleted}) {
			return ctx.Err()
		}
		return nil
	}
	if err := apimeta.EachListItem(list, func(o runtime.Object) error { return sent(o, false) }); err != nil {
		return err
	}
	if !send(change[T]{listed: true}) {
		return nil
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	w, err := cl.Watch(ctx, list, append(slices.Clone(options), from)...)
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Added, watch.Modified, watch.Deleted:
			if err := sent(event.Object, event.Type == watch.Deleted); err != nil {
				return err
			}
		case watch.Error:
			return apierrors.FromObject(event.Object)
		case watch.Bookmark:
		}
	}
	return nil
}
