; Launches. @launch the call, @name the kernel's last name, @configuration what stands between <<< and >>>,
; @arguments with their parentheses.
(call_expression
  function: [
    (identifier) @name
    (template_function name: (identifier) @name)
    (qualified_identifier name: (identifier) @name)
    (qualified_identifier name: (template_function name: (identifier) @name))
  ]
  (kernel_call_syntax) @configuration
  arguments: (argument_list) @arguments) @launch

; hipLaunchKernelGGL(kernel, grid, block, shared, stream, arguments...)
(call_expression
  function: (identifier) @api
  arguments: (argument_list
    .
    [
      (identifier) @name
      (template_function name: (identifier) @name)
      (call_expression
        function: (identifier) @wrapper
        arguments: (argument_list . [
          (identifier) @name
          (template_function name: (identifier) @name)
        ])
        (#eq? @wrapper "HIP_KERNEL_NAME"))
    ]) @arguments
  (#eq? @api "hipLaunchKernelGGL")) @launch
