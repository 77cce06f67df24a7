//go:build reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// managerAhead compiles a manager whose clock, the one that all its controllers and its election use, is 301 seconds ahead, and
// returns its folder. The nodes of a kind cluster have one clock, which is the machine's.
func managerAhead(ctx context.Context) string {
	GinkgoHelper()
	goTool := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = repository
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = GinkgoWriter
		out, err := cmd.Output()
		Expect(err).NotTo(HaveOccurred(), string(out))
		return strings.TrimSpace(string(out))
	}
	folder := GinkgoT().TempDir()
	const module = "k8s.io/utils"
	utils := filepath.Join(folder, "utils")
	Expect(os.CopyFS(utils, os.DirFS(goTool("list", "-m", "-f", "{{.Dir}}", module)))).To(Succeed())
	clock := filepath.Join(utils, "clock", "clock.go")
	text := need(os.ReadFile(clock))
	ahead := strings.NewReplacer("return time.Now()", "return time.Now().Add(301 * time.Second)",
		"return time.Since(ts)", "return time.Since(ts) + 301*time.Second").Replace(string(text))
	Expect(ahead).NotTo(Equal(string(text)))
	Expect(os.WriteFile(clock, []byte(ahead), 0o600)).To(Succeed())
	for _, name := range []string{"go.mod", "go.sum"} {
		content := need(os.ReadFile(filepath.Join(repository, name)))
		Expect(os.WriteFile(filepath.Join(folder, name), content, 0o600)).To(Succeed())
	}
	goTool("mod", "edit", "-replace", module+"="+utils, filepath.Join(folder, "go.mod"))
	// The flags of hack/lib.sh, so that what is the same is compiled once.
	goTool("build", "-modfile", filepath.Join(folder, "go.mod"), "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false",
		"-ldflags=-s -w", "-o", filepath.Join(folder, "manager"), "./cmd/manager")
	return folder
}

// foreignLoader is a folder with the loader's program, as it looks to a node of another architecture: its header names one that
// this machine does not have.
func foreignLoader() string {
	GinkgoHelper()
	program := need(os.ReadFile(filepath.Join(repository, "bin", "linux-"+runtime.GOARCH, "loader")))
	other := elf.EM_AARCH64
	if runtime.GOARCH == "arm64" {
		other = elf.EM_X86_64
	}
	const machine = 18 // where the header of an ELF file has it
	binary.LittleEndian.PutUint16(program[machine:], uint16(other))
	folder := GinkgoT().TempDir()
	Expect(os.WriteFile(filepath.Join(folder, "loader"), program, 0o755)).To(Succeed())
	return folder
}
