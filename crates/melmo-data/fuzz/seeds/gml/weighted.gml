Creator "a" # c
graph [
 directed 0
 node [ id 10 label "A &amp; B" graphics [ x 1.5 ] ]
 node [ id 7 ]
 node [ id -3 label 4 ]
 edge [ source 10 target 7 value 2.5 ]
 edge [ source 7 target -3 value 1 ]
 edge [ source 7 target 7 value 4 ]
]
