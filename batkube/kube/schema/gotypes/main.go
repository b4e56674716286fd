// Prints the API types of one Kubernetes release as JSON: what each field is called in JSON and in protobuf, and
// what the Go type says about when it is written. generate_messages.py compiles it against each release.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Field is one field of a struct, in the order of the struct.
type Field struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`  // in JSON
	Type    string `json:"type"`  // string, int32, int64, bool, double, bytes, or the name of a message
	Shape   string `json:"shape"` // "", list, map
	Pointer bool   `json:"pointer,omitempty"`
	// OmitEmpty, OmitZero and Inline are the options of the json tag; Inline fields have no name of their own.
	OmitEmpty bool   `json:"omitEmpty,omitempty"`
	OmitZero  bool   `json:"omitZero,omitempty"`
	Inline    bool   `json:"inline,omitempty"`
	Patch     string `json:"patch,omitempty"` // patchStrategy
	MergeKey  string `json:"mergeKey,omitempty"`
}

// Types with an encoding of their own, in JSON or in protobuf.
var special = map[string]bool{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         true,
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         true,
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       true,
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          true,
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         true,
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        true,
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       true,
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": true,
}

type marshaler interface{ Marshal() ([]byte, error) }

var (
	marshalerType = reflect.TypeOf((*marshaler)(nil)).Elem()
	messages      = map[string][]Field{}
)

func nameOf(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// typeOf names the type of a single value and visits it if it is a message.
func typeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int32:
		return "int32"
	case reflect.Int64, reflect.Int:
		return "int64"
	case reflect.Bool:
		return "bool"
	case reflect.Float64:
		return "double"
	case reflect.Struct:
		visit(t)
		return nameOf(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if t.Implements(marshalerType) { // a list that is a message with the items as its field 1
			element := typeOf(t.Elem())
			messages[nameOf(t)] = []Field{{Number: 1, Type: element, Shape: "list", Inline: true}}
			return nameOf(t)
		}
	}
	panic(fmt.Sprintf("no protobuf type for %v", t))
}

func visit(t reflect.Type) {
	name := nameOf(t)
	if _, seen := messages[name]; seen || special[name] {
		return
	}
	fields := []Field{}
	messages[name] = fields
	for i := 0; i < t.NumField(); i++ {
		structField := t.Field(i)
		tag := structField.Tag.Get("protobuf")
		if tag == "" || tag == "-" {
			continue // TypeMeta: it travels outside of the object
		}
		number, err := strconv.Atoi(strings.Split(tag, ",")[1])
		if err != nil {
			panic(fmt.Sprintf("%s.%s: %v", name, structField.Name, err))
		}
		options := strings.Split(structField.Tag.Get("json"), ",")
		field := Field{
			Number:   number,
			Name:     options[0],
			Patch:    structField.Tag.Get("patchStrategy"),
			MergeKey: structField.Tag.Get("patchMergeKey"),
		}
		if options[0] == "-" {
			continue
		}
		for _, option := range options[1:] {
			switch option {
			case "omitempty":
				field.OmitEmpty = true
			case "omitzero":
				field.OmitZero = true
			case "inline":
				field.Inline = true
			}
		}
		if structField.Anonymous && options[0] == "" {
			field.Inline = true
		}
		fieldType := structField.Type
		if fieldType.Kind() == reflect.Pointer {
			field.Pointer = true
			fieldType = fieldType.Elem()
		}
		isMessage := fieldType.Implements(marshalerType) || special[nameOf(fieldType)]
		switch {
		case fieldType.Kind() == reflect.Map:
			field.Shape = "map"
			field.Type = typeOf(fieldType.Elem())
		case fieldType.Kind() == reflect.Slice && fieldType.Elem().Kind() != reflect.Uint8 && !isMessage:
			field.Shape = "list"
			element := fieldType.Elem()
			if element.Kind() == reflect.Pointer {
				panic(fmt.Sprintf("%s.%s: a list of pointers", name, structField.Name))
			}
			field.Type = typeOf(element)
		default:
			field.Type = typeOf(fieldType)
		}
		fields = append(fields, field)
	}
	messages[name] = fields
}

func main() {
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			panic(err)
		}
	}
	kinds := map[string]string{}
	for kind, t := range scheme.Scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || !reflect.PointerTo(t).Implements(marshalerType) {
			continue
		}
		visit(t)
		kinds[kind.GroupVersion().String()+" "+kind.Kind] = nameOf(t)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(map[string]any{"kinds": kinds, "messages": messages}); err != nil {
		panic(err)
	}
}
