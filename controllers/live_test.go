// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// paged is an API server with so many objects, which notes how many were asked for at once.
type paged struct {
	client.Reader
	objects int
	limits  []int64
}

func (p *paged) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := new(client.ListOptions).ApplyOptions(opts)
	p.limits = append(p.limits, o.Limit)
	from := 0
	if o.Continue != "" {
		if _, err := fmt.Sscan(o.Continue, &from); err != nil {
			return err
		}
	}
	to := min(p.objects, from+int(o.Limit))
	list.SetContinue("")
	if to < p.objects {
		list.SetContinue(fmt.Sprint(to))
	}
	for n := from; n < to; n++ {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("o%d", n), Annotations: map[string]string{"example.com/large": "text"}}
		switch list := list.(type) {
		case *batchv1.JobList:
			list.Items = append(list.Items, batchv1.Job{ObjectMeta: meta})
		case *metav1.PartialObjectMetadataList:
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: meta})
		}
	}
	return nil
}

// Lists are read in pages, whole, and reduced: few objects at once, also of those that are read by their metadata alone.
func TestLiveListsInPages(t *testing.T) {
	configs := &metav1.PartialObjectMetadataList{}
	configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for name, tc := range map[string]struct {
		list  client.ObjectList
		pages int
	}{
		"whole objects": {&batchv1.JobList{}, 16}, "metadata": {configs, 16},
	} {
		t.Run(name, func(t *testing.T) {
			server := &paged{objects: 61}
			if err := (&Live{Reader: server}).List(t.Context(), tc.list); err != nil {
				t.Fatal(err)
			}
			var names []string
			switch list := tc.list.(type) {
			case *batchv1.JobList:
				for i := range list.Items {
					names = append(names, list.Items[i].Name+fmt.Sprint(list.Items[i].Annotations))
				}
			case *metav1.PartialObjectMetadataList:
				for i := range list.Items {
					names = append(names, list.Items[i].Name+fmt.Sprint(list.Items[i].Annotations))
				}
			}
			if len(names) != 61 || names[0] != "o0map[]" || names[60] != "o60map[]" || len(server.limits) != tc.pages {
				t.Errorf("%d objects in %d pages: %v", len(names), len(server.limits), names)
			}
		})
	}
}
