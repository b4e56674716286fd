// Writes what kube-apiserver makes of rules of custom resources: for each line of ../rules.jsonl the same rule with why
// it is refused, or with its errors and its cost for the values in ../values.json, and with what it may cost at most:
// for its schema, and for the bounded one.
//
//	go run . > new.jsonl && mv new.jsonl ../rules.jsonl
//
// With an argument, what the rules of each line of ../estimates.jsonl may cost at most, for the schema of that line, and
// how many values of it fit into a request:
//
//	go run . estimates > new.jsonl && mv new.jsonl ../estimates.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"regexp"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

const syntaxError = "Syntax error" // told in the words of a generated parser

var (
	selfType = regexp.MustCompile(`selfType\d+`)
	env      = environment.MustBaseEnvSet(version.MajorMinor(1, 35))
)

type values struct {
	Schema  v1.JSONSchemaProps `json:"schema"`
	Bounded v1.JSONSchemaProps `json:"bounded"`
	Self    any                `json:"self"`
	Old     any                `json:"old"`
}

type rule struct {
	Rule      string   `json:"rule"`
	Refused   string   `json:"refused,omitempty"`
	Errors    []string `json:"errors"`
	Cost      int64    `json:"cost"`
	Estimated []uint64 `json:"estimated,omitempty"`
}

// whole makes integers of whole numbers, as the API server reads them.
func whole(value any) any {
	switch its := value.(type) {
	case json.Number:
		if number, err := its.Int64(); err == nil {
			return number
		}
		number, _ := its.Float64()
		return number
	case map[string]any:
		for key := range its {
			its[key] = whole(its[key])
		}
	case []any:
		for index := range its {
			its[index] = whole(its[index])
		}
	}
	return value
}

// compile returns a schema that has nothing but that rule, and what the rule is compiled to.
func compile(props v1.JSONSchemaProps, text string) (*schema.Structural, *cel.CompilationResult, error) {
	props.XValidations = v1.ValidationRules{{Rule: text}}
	var internal apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		return nil, nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, nil, err
	}
	declared := model.SchemaDeclType(structural, false)
	results, err := cel.Compile(structural, declared, celconfig.PerCallLimit, env, cel.NewExpressionsEnvLoader())
	if err != nil {
		return nil, nil, err
	}
	return structural, &results[0], nil
}

func (v values) judge(r *rule) error {
	structural, result, err := compile(v.Schema, r.Rule)
	if err != nil {
		return err
	}
	r.Refused, r.Errors, r.Cost, r.Estimated = "", []string{}, 0, nil
	if wrong := result.Error; wrong != nil {
		r.Refused = selfType.ReplaceAllString(wrong.Detail, "selfType1")
		if strings.Contains(r.Refused, syntaxError) {
			r.Refused = syntaxError
		}
		return nil
	}
	validator := cel.NewValidator(structural, false, celconfig.PerCallLimit)
	budget := int64(celconfig.RuntimeCELCostBudget)
	errors, left := validator.Validate(context.Background(), nil, structural, v.Self, v.Old, budget)
	for _, wrong := range errors {
		r.Errors = append(r.Errors, wrong.Error())
	}
	r.Cost = budget - left
	_, bounded, err := compile(v.Bounded, r.Rule)
	if err != nil {
		return err
	}
	r.Estimated = []uint64{result.MaxCost, bounded.MaxCost}
	return nil
}

// estimates are rules of one schema, with the highest cost of each; 0 where it is refused.
type estimates struct {
	Schema    map[string]any `json:"schema"`
	Rules     []string       `json:"rules"`
	Estimated []uint64       `json:"estimated"`
	Fitting   uint64         `json:"fitting"`
}

func (e *estimates) judge(line []byte) error {
	var given struct {
		Schema v1.JSONSchemaProps `json:"schema"`
	}
	if err := json.Unmarshal(line, &given); err != nil {
		return err
	}
	e.Estimated = nil
	for _, text := range e.Rules {
		_, result, err := compile(given.Schema, text)
		if err != nil {
			return err
		}
		e.Estimated = append(e.Estimated, result.MaxCost)
		if result.Error == nil {
			e.Fitting = result.MaxCardinality
		}
	}
	return nil
}

func recordEstimates() error {
	file, err := os.Open("../estimates.jsonl")
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e estimates
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return err
		}
		if err := e.judge(lines.Bytes()); err != nil {
			return err
		}
		if err := out.Encode(e); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if len(os.Args) > 1 {
		if err := recordEstimates(); err != nil {
			log.Fatal(err)
		}
		return
	}
	var given values
	file, err := os.Open("../values.json")
	if err == nil {
		decoder := json.NewDecoder(file)
		decoder.UseNumber()
		err = decoder.Decode(&given)
	}
	rules, cannot := os.Open("../rules.jsonl")
	if err != nil || cannot != nil {
		log.Fatal(err, cannot)
	}
	given.Self, given.Old = whole(given.Self), whole(given.Old)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	lines := bufio.NewScanner(rules)
	for lines.Scan() {
		var r rule
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			log.Fatal(err)
		}
		if err := given.judge(&r); err != nil {
			log.Fatal(r.Rule, err)
		}
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}
