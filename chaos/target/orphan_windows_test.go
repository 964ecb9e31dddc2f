package target

// actParent has nothing to do where no outside program can be a target.
func actParent() {}
