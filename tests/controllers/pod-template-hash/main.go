// Prints the structs of a pod template, as batkube/controllers/templates/fields.json has them; or, for each file that
// is named, the hash that kube-controller-manager gives the template in it. go.mod names k8s.io/api v0.36.3.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"
	"sigs.k8s.io/yaml"
)

var types = map[string][][]string{}

func visit(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + visit(t.Elem())
	case reflect.Slice:
		return t.String() + "|[]" + visit(t.Elem())
	case reflect.Map:
		return t.String() + "|{}" + visit(t.Elem())
	case reflect.Struct:
		name := t.String()
		if _, ok := types[name]; ok || name == "v1.Time" || name == "resource.Quantity" || name == "intstr.IntOrString" || name == "v1.ManagedFieldsEntry" {
			return name
		}
		types[name] = nil
		var fs [][]string
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			tag := strings.Split(f.Tag.Get("json"), ",")
			fs = append(fs, []string{f.Name, tag[0], visit(f.Type)})
		}
		types[name] = fs
		return name
	}
	return t.String() + "=" + t.Kind().String()
}

func main() {
	if len(os.Args) > 1 {
		for _, p := range os.Args[1:] {
			b, _ := os.ReadFile(p)
			var t v1.PodTemplateSpec
			if err := yaml.Unmarshal(b, &t); err != nil {
				panic(err)
			}
			raw, _ := t.Marshal()
			var u v1.PodTemplateSpec
			u.Unmarshal(raw)
			h := fnv.New32a()
			text := dump.ForHash(u)
			fmt.Fprintf(h, "%v", text)
			fmt.Println(p, rand.SafeEncodeString(fmt.Sprint(h.Sum32())))
		}
		return
	}
	visit(reflect.TypeOf(v1.PodTemplateSpec{}))
	b, _ := json.Marshal(types)
	fmt.Println(string(b))
}
