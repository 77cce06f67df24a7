// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

const (
	// maxLimitSeconds is the API's: 180 days.
	maxLimitSeconds = 180 * 24 * 3600
	// maxPods is the API's.
	maxPods = 64
)

var (
	schemaName  = regexp.MustCompile(`^[A-Za-z0-9_]{1,50}$`) // with room for a prefix in the name of a lock
	settingName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
)

// validate finds what would otherwise fail later, or not fail and measure something else. The error is for the person
// who wrote the run.
func validate(cfg *result.Config) error {
	if err := validateServer(&cfg.Server); err != nil {
		return err
	}
	switch {
	case cfg.Trial < 1 || cfg.Attempt < 1:
		return fmt.Errorf("trial %d, attempt %d: both count from 1", cfg.Trial, cfg.Attempt)
	case cfg.LimitSeconds < 0 || cfg.LimitSeconds > maxLimitSeconds:
		return fmt.Errorf("limitSeconds is %d but must be 0 to %d", cfg.LimitSeconds, maxLimitSeconds)
	case cfg.PrimeSeconds < 0 || cfg.PrimeSeconds > maxLimitSeconds:
		return fmt.Errorf("primeSeconds is %d but must be 0 to %d", cfg.PrimeSeconds, maxLimitSeconds)
	case cfg.Pods < 0 || cfg.Pods > maxPods:
		return fmt.Errorf("pods is %d but must be 0 to %d", cfg.Pods, maxPods)
	case cfg.ConnectSeconds < 1:
		return fmt.Errorf("connectSeconds is %d but must be at least 1", cfg.ConnectSeconds)
	}
	for i, setting := range cfg.Settings {
		if !settingName.MatchString(setting.Name) {
			return fmt.Errorf("setting %d has the name %q, which is not the name of a variable", i+1, setting.Name)
		}
	}
	return nil
}

func validateServer(s *result.Server) error {
	e, err := engine.ByName(s.Engine)
	if err != nil {
		return err
	}
	if err := validateAddress(s); err != nil {
		return err
	}
	switch {
	case s.UserFile == "" || s.PasswordFile == "":
		return errors.New("the files with the server's user and password are not named")
	case !schemaName.MatchString(s.Schema):
		return fmt.Errorf("schema is %q but must be 1 to 50 letters, digits and underscores", s.Schema)
	case s.TLS != "" && s.TLS != result.TLSRequired && s.TLS != result.TLSVerifyIdentity:
		return fmt.Errorf("tls is %q but must be empty, %s or %s", s.TLS, result.TLSRequired, result.TLSVerifyIdentity)
	}
	for _, taken := range e.SystemSchemas {
		if strings.EqualFold(s.Schema, taken) {
			return fmt.Errorf("schema %s belongs to the server: name another schema", taken)
		}
	}
	return nil
}

// validateAddress is where the server and its observer listen.
func validateAddress(s *result.Server) error {
	switch {
	case s.Host == "":
		return errors.New("the server's host is empty")
	case s.Port < 1 || s.Port > 65535:
		return fmt.Errorf("the server's port is %d but must be 1 to 65535", s.Port)
	case s.ObserverPort < 0 || s.ObserverPort > 65535:
		return fmt.Errorf("the observer's port is %d but must be 0 to 65535", s.ObserverPort)
	case s.Socket != "" && !filepath.IsAbs(s.Socket):
		return fmt.Errorf("the server's socket is %q but must be an absolute path", s.Socket)
	case s.Socket != "" && s.TLS != "":
		return errors.New("connections by a Unix socket are not encrypted: tls must be empty")
	}
	return nil
}

// prepareConfig parses and checks the configuration, and makes its workload, which is nil if another program makes the load.
func prepareConfig(data, podIndex string) (*result.Config, workload.Workload, error) {
	if data == "" {
		return nil, nil, fmt.Errorf("the environment variable %s is empty", result.EnvConfig)
	}
	cfg, err := result.ParseConfig([]byte(data))
	if err != nil {
		return nil, nil, err
	}
	if podIndex != "" {
		if cfg.Pod, err = strconv.Atoi(podIndex); err != nil {
			return cfg, nil, fmt.Errorf("%s is %q but must be a number", result.EnvPodIndex, podIndex)
		}
	}
	if err := validate(cfg); err != nil {
		return cfg, nil, fmt.Errorf("checking the loader's configuration: %w", err)
	}
	if registry.IsTool(cfg) {
		return cfg, nil, nil
	}
	w, err := registry.New(cfg)
	if err != nil {
		return cfg, nil, fmt.Errorf("checking the loader's configuration: %w", err)
	}
	return cfg, w, nil
}

// cpuLimit reads the container's CPU limit; unset is none.
func cpuLimit(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	millis, err := strconv.ParseInt(text, 10, 64)
	if err != nil || millis < 0 {
		return 0, fmt.Errorf("%s is %q but must be a number of thousandths of a CPU", result.EnvCPULimitMillis, text)
	}
	return millis, nil
}
