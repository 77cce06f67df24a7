// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

func newList(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	everywhere := false
	command := &cobra.Command{
		Use:   "list",
		Short: "List runs and comparisons, newest first",
		Example: `  # Runs and comparisons of the current namespace.
  kubectl benchrun list

  # Those of all namespaces.
  kubectl benchrun list --all-namespaces`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cl, namespace, err := c.connect()
			if err != nil {
				return err
			}
			if everywhere {
				namespace = ""
			}
			rows, err := listed(command, cl, namespace)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				_, err := fmt.Fprintln(streams.ErrOut,
					"There are no runs or comparisons. `kubectl benchrun run --help` shows how to start one.")
				return err
			}
			return printRows(streams, rows, everywhere)
		},
	}
	command.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list those of all namespaces")
	return command
}

// row of the list.
type row struct {
	namespace, name, kind, status, progress, answer string
	created                                         metav1.Time
}

// listed are all runs that stand alone, and all comparisons. Runs of a comparison are not listed.
func listed(command *cobra.Command, cl client.Reader, namespace string) ([]row, error) {
	var (
		runs        v1alpha1.BenchmarkRunList
		comparisons v1alpha1.BenchmarkComparisonList
		rows        []row
	)
	in := client.InNamespace(namespace)
	if err := cl.List(command.Context(), &runs, in); err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	if err := cl.List(command.Context(), &comparisons, in); err != nil {
		return nil, fmt.Errorf("listing comparisons: %w", err)
	}
	for i := range runs.Items {
		run := &runs.Items[i]
		if run.Labels[v1alpha1.LabelComparison] != "" {
			continue
		}
		rows = append(rows, row{
			run.Namespace, run.Name, "run", statusOf(run.Status.Conditions), run.Status.Progress, run.Status.Result,
			run.CreationTimestamp,
		})
	}
	for i := range comparisons.Items {
		comparison := &comparisons.Items[i]
		rows = append(rows, row{
			comparison.Namespace, comparison.Name, "comparison", statusOf(comparison.Status.Conditions), comparison.Status.Progress,
			comparison.Status.Result,
			comparison.CreationTimestamp,
		})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(b.created.Compare(a.created.Time), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return rows, nil
}

// statusOf is the reason of Ready, as `kubectl get` shows it.
func statusOf(conditions []metav1.Condition) string {
	for _, c := range conditions {
		if c.Type == v1alpha1.ConditionReady {
			return c.Reason
		}
	}
	return "New"
}

func printRows(streams genericiooptions.IOStreams, rows []row, everywhere bool) error {
	w := printers.GetNewTabWriter(streams.Out)
	header := "NAME\tKIND\tSTATUS\tPROGRESS\tRESULT\tAGE"
	if everywhere {
		header = "NAMESPACE\t" + header
	}
	fmt.Fprintln(w, header) //nolint:errcheck // Flush has the error
	for _, r := range rows {
		if everywhere {
			fmt.Fprint(w, r.namespace+"\t") //nolint:errcheck // Flush has the error
		}
		fmt.Fprintln(w, strings.Join([]string{ //nolint:errcheck // Flush has the error
			r.name, r.kind, shown(r.status), shown(r.progress), shown(r.answer), duration.HumanDuration(time.Since(r.created.Time)),
		}, "\t"))
	}
	return w.Flush()
}
