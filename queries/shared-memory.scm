; Variables in LDS. @declaration the whole, @element the type, @name; one match a variable.
; Arrays of one to three dimensions; "extern" marks those that are sized at the launch.
((declaration
   (type_qualifier) @shared
   type: (_) @element
   declarator: [
     (identifier) @name
     (array_declarator declarator: (identifier) @name)
     (array_declarator declarator: (array_declarator declarator: (identifier) @name))
     (array_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @name)))
   ]) @declaration
 (#eq? @shared "__shared__"))
