// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// checker applies every rule for runs that needs no cluster: those of the API server, and then those of the operator.
type checker struct {
	runs *apischema.Schema
	// beside are the ConfigMaps that stand beside what is checked.
	beside configMaps
}

func newChecker() (*checker, error) {
	runs, err := apischema.Runs()
	return &checker{runs: runs}, err
}

// Check is what validate says of a run: what it will do, or what is wrong with it, one line each. It sets the object's defaults.
func Check(ctx context.Context, object *unstructured.Unstructured) (summary string, problems []string, err error) {
	c, err := newChecker()
	if err != nil {
		return "", nil, err
	}
	summary, problems = c.check(ctx, object)
	return summary, problems, nil
}

// check returns what is wrong with a run, one line each, or what it will do. It sets the defaults of the object.
func (c *checker) check(ctx context.Context, object *unstructured.Unstructured) (summary string, problems []string) {
	if object.GetAPIVersion() != v1alpha1.GroupVersion.String() {
		return "", []string{fmt.Sprintf("apiVersion: %s is unknown; use %s", object.GetAPIVersion(), v1alpha1.GroupVersion)}
	}
	if object.GetNamespace() == "" {
		object.SetNamespace("default") // as the API server does, with the namespace of the request
	}
	defer generated(object)()
	problems = append(c.runs.Misread(object.Object), pasted(object.Object)...)
	if unknown := decoded(c.runs, object); len(unknown) > 0 {
		return "", append(problems, unknown...)
	}
	if errs := lines(c.runs.Errors(ctx, object.Object)); len(errs) > 0 {
		return "", append(problems, errs...)
	}
	summary, errs := c.checkRun(ctx, object)
	if problems = append(problems, errs...); len(problems) > 0 {
		return "", problems
	}
	return summary, nil
}

// generated gives an object with generateName a name such as the API server makes, until the function that it returns is called.
func generated(object *unstructured.Unstructured) func() {
	if object.GetName() != "" || object.GetGenerateName() == "" {
		return func() {}
	}
	object.SetName(object.GetGenerateName() + "x7k2p")
	return func() { object.SetName("") }
}

// decoded is what strict decoding says. What is unknown is removed.
func decoded(schema *apischema.Schema, object *unstructured.Unstructured) []string {
	unknown, err := apischema.PruneMetadata(object.Object)
	if err != nil {
		return []string{"metadata: " + err.Error()}
	}
	var problems []string
	for _, path := range append(unknown, schema.Prune(object.Object)...) {
		problems = append(problems, fmt.Sprintf("%s: unknown field %q", path, path))
	}
	return problems
}

// lines are errors as one line each.
func lines(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, strings.ReplaceAll(strings.TrimPrefix(err.Error(), "<nil>: "), "\n", " "))
	}
	return all
}

func (c *checker) checkRun(ctx context.Context, object *unstructured.Unstructured) (string, []string) {
	run := new(v1alpha1.BenchmarkRun)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, run); err != nil {
		return "", []string{err.Error()}
	}
	if problems := c.checkVariants(ctx, run); len(problems) > 0 {
		return "", problems
	}
	p, err := validation.PlanRun(run)
	if err != nil {
		return "", []string{"spec: " + err.Error()}
	}
	for variant := range plan.Sides(run) {
		place := "spec."
		if len(run.Spec.Variants) > 0 {
			place = fmt.Sprintf("spec.variants[%s]: ", run.Spec.Variants[variant].Name)
		}
		if wrong := c.beside.check(plan.Side(run, variant, 1)); len(wrong) > 0 {
			return "", under(place, wrong)
		}
	}
	warning := validation.Warning(&run.Spec)
	if warning != "" {
		warning = "; warning: " + warning
	}
	deadline := duration.HumanDuration(plan.Deadline(run, p))
	return fmt.Sprintf("%s; deadline: %s%s", trialsOf(run, p), deadline, warning), nil
}

func trialsOf(run *v1alpha1.BenchmarkRun, p *plan.Plan) string {
	points := stats.Counted(len(p.Points), "point")
	if p.Stages > 1 {
		points = fmt.Sprintf("%s of %d stages", stats.Counted(len(p.Points)/p.Stages, "chain"), p.Stages)
	}
	if len(p.Variants) > 0 {
		return fmt.Sprintf("at most %s × %d variants at %s = %s%s; alternation: %s", stats.Counted(p.Rounds, "round"), len(p.Variants),
			points, stats.Counted(len(p.Trials), "trial"), equalVariants(run), p.Alternation)
	}
	if precision := run.Spec.Trials.Precision; precision != nil {
		return fmt.Sprintf("%s × %d to %d repetitions = at most %s", points, precision.Min, precision.Max,
			stats.Counted(len(p.Trials), "trial"))
	}
	return fmt.Sprintf("%s × %s = %s", points, stats.Counted(p.Rounds, "repetition"), stats.Counted(len(p.Trials), "trial"))
}

// equalVariants says which variants ask for the same, which may be a mistake, or a test of how far equal servers differ.
func equalVariants(run *v1alpha1.BenchmarkRun) string {
	known, again := map[string]bool{}, []string{}
	for i, v := range run.Spec.Variants {
		digest, err := plan.Digest(&plan.Side(run, i, 1).Spec)
		if err == nil && known[digest] {
			again = append(again, v.Name)
		}
		known[digest] = true
	}
	switch len(again) {
	case 0:
		return ""
	case len(run.Spec.Variants) - 1:
		return "; all variants are equal (an A/A test)"
	}
	return "; equal to an earlier variant: " + strings.Join(again, ", ")
}

// checkVariants has the API server's rules look at what each variant asks for as a run of its own.
func (c *checker) checkVariants(ctx context.Context, run *v1alpha1.BenchmarkRun) (problems []string) {
	for i, v := range run.Spec.Variants {
		side := plan.Side(run, i, 1)
		side.APIVersion, side.Kind = v1alpha1.GroupVersion.String(), plan.RunKind
		object, err := apischema.Object(side)
		if err != nil {
			return []string{err.Error()}
		}
		c.runs.Prune(object)
		problems = append(problems, under(fmt.Sprintf("spec.variants[%s]: ", v.Name), lines(c.runs.Errors(ctx, object)))...)
	}
	return problems
}

// under puts the place before each of some lines.
func under(place string, lines []string) []string {
	for i := range lines {
		lines[i] = place + lines[i]
	}
	return lines
}

// pasted says what variables, wherever an object has some, still have of the option file that they were pasted from: one line
// for each. They are then as they should be, so that what else is wrong can be said in the same list.
func pasted(object map[string]any) []string {
	variables, engines := map[string]map[string]any{}, map[string]*engine.Engine{}
	var whole *engine.Engine
	add := func(path string, of any) {
		below, _ := of.(map[string]any)
		database, _ := below["database"].(map[string]any)
		path += ".database.variables"
		variables[path], _ = database["variables"].(map[string]any)
		name, _ := database["engine"].(string)
		image, _ := database["image"].(string)
		if engines[path] = whole; whole == nil || name+image != "" {
			engines[path], _ = engine.Named(name, image)
		}
		whole = cmp.Or(whole, engines[path])
	}
	spec, _ := object["spec"].(map[string]any)
	add("spec", spec)
	variants, _ := spec["variants"].([]any)
	for i, variant := range variants {
		add(fmt.Sprintf("spec.variants[%d]", i), variant)
	}
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(variables)) {
		if e := engines[path]; e != nil && e.Options.Meant != nil {
			lines = append(lines, meant(e, path, variables[path])...)
		}
	}
	return lines
}

// meant corrects the variables of a database, and says what it has corrected.
func meant(e *engine.Engine, path string, variables map[string]any) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value, isText := variables[name].(string)
		if !isText {
			continue // its type is wrong, which the schema says
		}
		right, set, wrong := e.Options.Meant(name, value)
		if _, twice := variables[right]; twice && right != name {
			wrong = append(wrong, right+" stands there, too")
		}
		for _, line := range wrong {
			lines = append(lines, fmt.Sprintf("%s[%s]: %s", path, name, line))
		}
		delete(variables, name)
		variables[right] = set
	}
	return lines
}
