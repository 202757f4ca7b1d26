; Kernels: functions marked __global__ with a body.
; @kernel the definition, @name, @parameters with their parentheses, @body with its braces.
(function_definition
  "__global__"
  declarator: (function_declarator
    declarator: [
      (identifier) @name
      (template_function name: (identifier) @name)
    ]
    parameters: (parameter_list) @parameters)
  body: (compound_statement) @body) @kernel
