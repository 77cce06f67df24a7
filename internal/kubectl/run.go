// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errNoFile = errors.New("-f FILE is missing; - is the standard input")

// Values of --dry-run.
const dryRunNone, dryRunClient = "none", "client"

type creation struct {
	cluster *cluster
	streams genericiooptions.IOStreams
	print   *genericclioptions.PrintFlags
	dryRun  string
	watch   bool
}

func newRun(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	o := &creation{
		cluster: c, streams: streams, dryRun: dryRunNone,
		print: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme()),
	}
	var names, settings []string
	others := alternatives{say: func(line string) { say(streams.ErrOut, line) }}
	command := &cobra.Command{
		Use:   "run -f FILE [NAME] [--image IMAGE,IMAGE...] [--grid PATH=VALUE,...]... [--variant NAME=FILE]... [--set PATH=VALUE]...",
		Short: "Start a run",
		Long: `Start a run from a file.

With a file of one run, NAME is another name than the file's, and --set sets fields of its specification. The paths are those
that "kubectl explain brun.spec" shows; after a list of named objects, such as variants, comes a name. Write lists with commas,
and structured values as YAML.

Three flags make a run without variants one with variants, at most 16: all combinations. Claims, trials.repetitions
and trials.precision of the file are left out, and that is said.
  --image    versions of a server, named after their tags; the name of an image says of which engine it is
  --grid     values of a field of the database, or of database, workload or loader; the first is the baseline's
  --variant  the settings and variables of an option file in place of the run's, which is the baseline. What names files,
             places or secrets of its server, or cannot be read back, is left out, and that is said line by line.`,
		Example: `  # From a file, and watch it until it has finished.
  kubectl benchrun run -f config/samples/commit-size.yaml --watch

  # From a file, with another name and another image of one variant.
  kubectl benchrun run -f gate.yaml pr-1234 --set variants.new.database.image=registry.example.com/mariadb:pr-1234

  # Three versions, in as many rounds as the answer takes.
  kubectl benchrun run -f config/samples/commit-size.yaml --image mariadb:10.11,mariadb:11.8,mysql:9.7 --watch

  # Nine combinations of two settings.
  kubectl benchrun run -f config/samples/sysbench.yaml --grid settings.bufferPoolSize=128Mi,512Mi,1Gi \
    --grid variables.innodb_io_capacity=200,2000,20000

  # Is our my.cnf better than the defaults?
  kubectl benchrun run -f config/samples/sysbench.yaml --variant prod=/etc/mysql/my.cnf --watch

  # Print what would be created, to keep it in a file.
  kubectl benchrun run -f config/samples/commit-size.yaml sizes --set trials.repetitions=6 --dry-run=client -o yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(names) == 0 {
				return errNoFile
			}
			objects, err := o.read(names)
			if err == nil {
				err = others.apply(objects)
			}
			if err == nil {
				err = changed(objects, arguments, settings)
			}
			if err != nil {
				return err
			}
			return o.all(command.Context(), objects)
		},
	}
	command.Flags().StringSliceVarP(&names, "filename", "f", nil, "file with runs; - is the standard input")
	command.Flags().StringSliceVar(&others.images, "image", nil, "compare these images of the server; the first is the baseline")
	command.Flags().StringArrayVar(&others.grids, "grid", nil, "compare these values of a field: PATH=VALUE,...")
	command.Flags().StringArrayVar(&others.files, "variant", nil, "compare with the options of a server's file: NAME=my.cnf")
	command.Flags().StringArrayVar(&settings, "set", nil, "set a field of the specification: PATH=VALUE")
	o.print.AddFlags(command)
	command.Flags().StringVar(&o.dryRun, "dry-run", o.dryRun, "none or client (check and print, send nothing)")
	command.Flags().BoolVarP(&o.watch, "watch", "w", false, "watch it until it has finished")
	for flag, words := range map[string][]string{"dry-run": {dryRunNone, dryRunClient}, "output": o.print.AllowedFormats()} {
		utilruntime.Must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
	}
	return command
}

// changed is one object with another name and other fields, if that is asked for.
func changed(objects []*unstructured.Unstructured, arguments, settings []string) error {
	if len(arguments) == 0 && len(settings) == 0 {
		return nil
	}
	if len(objects) != 1 {
		return fmt.Errorf("NAME and --set take a file with one run, but there are %d", len(objects))
	}
	object := objects[0]
	for _, name := range arguments {
		object.SetName(name)
	}
	spec, found, err := unstructured.NestedMap(object.Object, "spec")
	if err != nil {
		return err
	}
	if !found {
		spec = map[string]any{}
	}
	if err := setAll(spec, settings); err != nil {
		return err
	}
	object.Object["spec"] = spec
	return nil
}

// read the runs of files. What else they hold is not ours to create, and leaving it out would not do either.
func (o *creation) read(names []string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range names {
		all, err := readManifests(name, o.streams.In)
		if err != nil {
			return nil, err
		}
		for _, object := range all {
			if !isRun(object) {
				return nil, fmt.Errorf("%s also contains %s, which is not a run: create everything with "+
					"`kubectl apply -f %s`, then use `kubectl benchrun watch NAME`", name, title(object), name)
			}
		}
		objects = append(objects, all...)
	}
	if len(objects) == 0 {
		return nil, errors.New("there are no runs in the file")
	}
	return objects, nil
}

// all objects are created, or as --dry-run says. With --watch there is one.
func (o *creation) all(ctx context.Context, objects []*unstructured.Unstructured) error {
	switch o.dryRun {
	case dryRunNone:
	case dryRunClient:
		return o.checked(ctx, objects)
	default:
		return fmt.Errorf("--dry-run %s is not known; use %s or %s", o.dryRun, dryRunNone, dryRunClient)
	}
	if o.watch && len(objects) != 1 {
		return fmt.Errorf("--watch takes one run, but there are %d", len(objects))
	}
	cl, namespace, err := o.cluster.connect()
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := o.create(ctx, cl, namespace, object); err != nil {
			return err
		}
	}
	if o.watch {
		return watch(ctx, o.streams.Out, cl, client.ObjectKeyFromObject(objects[0]))
	}
	return nil
}

// create an object, strictly: the API server refuses unknown fields.
func (o *creation) create(ctx context.Context, cl client.Client, namespace string, object *unstructured.Unstructured) error {
	if object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	if err := cl.Create(ctx, object, client.FieldValidation("Strict"), client.FieldOwner("kubectl-benchrun")); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s %s already exists: use another name", object.GetKind(), object.GetName())
		}
		return err
	}
	return o.printed("%s", object)
}

// checked prints objects that no cluster has seen, if they are valid.
func (o *creation) checked(ctx context.Context, objects []*unstructured.Unstructured) error {
	c, err := newChecker()
	if err != nil {
		return err
	}
	for _, object := range objects {
		if _, problems := c.check(ctx, object.DeepCopy()); len(problems) > 0 {
			for _, problem := range problems {
				say(o.streams.ErrOut, fmt.Sprintf("%s %s: %s", object.GetKind(), object.GetName(), problem))
			}
			return fmt.Errorf("%s %s is not valid", object.GetKind(), object.GetName())
		}
		if err := o.printed("%s (dry run)", object); err != nil {
			return err
		}
	}
	return nil
}

// printed as -o says.
func (o *creation) printed(word string, object *unstructured.Unstructured) error {
	if err := o.print.Complete(word); err != nil {
		return err
	}
	printer, err := o.print.ToPrinter()
	if err != nil {
		return err
	}
	object.SetManagedFields(nil)
	return printer.PrintObj(object, o.streams.Out)
}
