module oriproof

go 1.19
